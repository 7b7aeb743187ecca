#include "worker/probes/llm_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "pages/http_failure.h"
#include "worker/probes/attempt_time.h"
#include "worker/probes/chat.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kWhom = "the model";
// An answer that does not fit the schema is asked for this often in all.
constexpr int kAsksMax = 2;

}  // namespace

struct LlmProbe::Impl : std::enable_shared_from_this<LlmProbe::Impl> {
  using CheckId = std::uint64_t;

  struct Check {
    ProbeRequest request;
    std::function<void(ProbeResult)> done;
    std::optional<pages::PageText> page;
    AttemptTime time;
    std::unique_ptr<RequestRoom> room;  // of what is asked
    std::string fault;                  // of the answer before
    int asks = 0;

    const pages::PageText* PageOrNull() const { return page ? &*page : nullptr; }
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const ServiceBudgets& b, const base::Clock& k,
       metrics::Metrics& m, const config::ProbeConfig& p, WebProbe* w)
      : loop(l),
        client(c),
        budgets(b),
        clock(k),
        metrics(m),
        config(p),
        url(CompletionsUrl(p.url)),
        web(w) {}

  void Start(ProbeRequest request, std::function<void(ProbeResult)> done);
  void Ask(ProbeRequest request, std::optional<pages::PageText> page,
           std::function<void(ProbeResult)> done);
  void Send(CheckId id);
  void OnRoom(CheckId id, std::optional<milliseconds> waited);
  bool OnTurn(CheckId id, milliseconds waited);
  void OnResponse(CheckId id, const net::HttpResponse& response);
  void Finish(CheckId id, ProbeResult result);

  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  const config::ProbeConfig config;
  const std::string url;
  WebProbe* const web;
  // Nothing to extract: the page is read for its text.
  const std::shared_ptr<const ProbeSpec> text_only = std::make_shared<const ProbeSpec>();

  std::unordered_map<CheckId, Check> checks;
  CheckId last_id = 0;
};

void LlmProbe::Impl::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  if (web == nullptr || config.page_text_bytes_max == 0) {
    return Ask(std::move(request), std::nullopt, std::move(done));
  }
  ProbeRequest reading = request;
  reading.spec = text_only;
  reading.timeout = std::max(request.timeout / 2, milliseconds(1));
  auto time = MeasureTurns(&reading, request.timeout, clock.SinceBoot());
  web->Read(std::move(reading), config.page_text_bytes_max,
            [weak = weak_from_this(), time = std::move(time), asked = std::move(request),
             done = std::move(done)](pages::PageReading page) mutable {
              const auto self = weak.lock();
              if (self == nullptr) return;
              asked.timeout = time->Timeout(self->clock.SinceBoot());
              self->Ask(std::move(asked), std::move(page.text), std::move(done));
            });
}

void LlmProbe::Impl::Ask(ProbeRequest request, std::optional<pages::PageText> page,
                         std::function<void(ProbeResult)> done) {
  const CheckId id = ++last_id;
  const AttemptTime time(clock.SinceBoot(), request.timeout);
  auto room = std::make_unique<RequestRoom>(loop, budgets.questions, request.org_id);
  checks.emplace(
      id, Check{std::move(request), std::move(done), std::move(page), time, std::move(room)});
  Send(id);
}

void LlmProbe::Impl::OnRoom(CheckId id, std::optional<milliseconds> waited) {
  if (!waited) return Finish(id, pages::OverloadedFailure());
  checks.at(id).time.WaitedForRoom(*waited);
  Send(id);
}

bool LlmProbe::Impl::OnTurn(CheckId id, milliseconds waited) {
  const auto it = checks.find(id);
  if (it == checks.end()) return false;
  return TakeTurn(it->second.request, waited, &it->second.time);
}

void LlmProbe::Impl::Send(CheckId id) {
  Check& check = checks.at(id);
  net::HttpRequest post;
  post.body = ChatRequestBody(config, check.request, check.PageOrNull(), check.fault);
  if (!check.room->Take(post.body.size(), check.request.deadline_left,
                        [this, id](std::optional<milliseconds> waited) { OnRoom(id, waited); })) {
    return;
  }
  ++check.asks;
  post.method = "POST";
  post.url = url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Accept", "application/json, text/event-stream;q=0.5"}};
  if (!config.api_key.empty()) {
    post.headers.emplace_back("Authorization", "Bearer " + config.api_key);
  }
  post.trust = net::Trust::kOperator;
  post.org = check.request.org_id;
  post.wait_max = kTurnWaitMax;
  post.on_turn = [id, weak = weak_from_this()](milliseconds waited) {
    const auto self = weak.lock();
    return self != nullptr && self->OnTurn(id, waited);
  };
  post.budget = &budgets.answers;
  post.timeout = check.time.Timeout(clock.SinceBoot());
  post.body_bytes_max = config.body_bytes_max;
  client.Send(std::move(post), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, response);
  });
}

void LlmProbe::Impl::OnResponse(CheckId id, const net::HttpResponse& response) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  Check& check = it->second;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, pages::TransportFailure(response, kWhom));
  }
  if (response.status != 200) {
    return Finish(id, pages::StatusFailure(response, kWhom, clock.Now()));
  }
  ChatReading reading = ReadChatAnswer(response.body, check.request, check.PageOrNull());
  metrics.AddLlmTokens(check.request.spec->tier, reading.tokens.prompt, reading.tokens.completion);
  if (auto* observation = std::get_if<Observation>(&reading.result)) {
    return Finish(id, std::move(*observation));
  }
  if (auto* refusal = std::get_if<ProbeFailure>(&reading.result)) {
    return Finish(id, std::move(*refusal));
  }
  std::string what = std::get<ChatMisfit>(reading.result).what;
  if (check.asks < kAsksMax) {
    check.fault = std::move(what);
    return Send(id);
  }
  Finish(id, ProbeFailure{"invalid_answer",
                          fmt::format("The model's answer does not fit the schema: {}.", what),
                          false,
                          {}});
}

void LlmProbe::Impl::Finish(CheckId id, ProbeResult result) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  const auto done = std::move(it->second.done);
  checks.erase(it);
  done(std::move(result));
}

LlmProbe::LlmProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                   const base::Clock& clock, metrics::Metrics& metrics,
                   const config::ProbeConfig& config, WebProbe* pages)
    : impl_(std::make_shared<Impl>(loop, client, budgets, clock, metrics, config, pages)) {}

LlmProbe::~LlmProbe() = default;

void LlmProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

void LlmProbe::Ask(ProbeRequest request, std::optional<pages::PageText> page,
                   std::function<void(ProbeResult)> done) {
  impl_->Ask(std::move(request), std::move(page), std::move(done));
}

}  // namespace vedette::worker
