#include "worker/probes/llm_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "config/role_config.h"
#include "pages/http_failure.h"
#include "worker/probes/attempt_time.h"
#include "worker/probes/chat.h"
#include "worker/services/service_attempt.h"

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
    std::unique_ptr<ServiceAttempt> attempt{};
    std::string fault{};  // of the answer before
    int asks = 0;

    const pages::PageText* PageOrNull() const { return page ? &*page : nullptr; }
  };

  Impl(const ServiceDependencies& m, metrics::Metrics& counted, const config::ProbeConfig& p,
       WebProbe* w)
      : deps(m), metrics(counted), config(p), url(CompletionsUrl(p.url)), web(w) {}

  void Start(ProbeRequest request, std::function<void(ProbeResult)> done);
  void Ask(ProbeRequest request, std::optional<pages::PageText> page,
           std::function<void(ProbeResult)> done);
  void Send(CheckId id);
  net::HttpRequest MakePost(CheckId id);
  void OnAnswer(CheckId id, ServiceAttempt::Answer answer);
  void OnResponse(CheckId id, const net::HttpResponse& response);
  void Finish(CheckId id, ProbeResult result);

  const ServiceDependencies deps;
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
  auto time = MeasureTurns(&reading, request.timeout, deps.clock.SinceBoot());
  web->Read(std::move(reading), config.page_text_bytes_max,
            [weak = weak_from_this(), time = std::move(time), asked = std::move(request),
             done = std::move(done)](pages::PageReading page) mutable {
              const auto self = weak.lock();
              if (self == nullptr) return;
              asked.timeout = time->Timeout(self->deps.clock.SinceBoot());
              self->Ask(std::move(asked), std::move(page.text), std::move(done));
            });
}

void LlmProbe::Impl::Ask(ProbeRequest request, std::optional<pages::PageText> page,
                         std::function<void(ProbeResult)> done) {
  const CheckId id = ++last_id;
  AttemptOptions options;
  options.org_id = request.org_id;
  options.api_key = config.api_key;
  options.body_bytes_max = config.body_bytes_max;
  options.timeout = request.timeout;
  options.room_wait_max = request.deadline_left;
  options.turn_wait_max = kTurnWaitMax;
  options.on_turn = std::move(request.on_turn);
  Check check{std::move(request), std::move(done), std::move(page)};
  check.attempt = std::make_unique<ServiceAttempt>(deps, std::move(options));
  checks.emplace(id, std::move(check));
  Send(id);
}

// The attempt is the check's, and the check is this object's: what is sent ends with either.
void LlmProbe::Impl::Send(CheckId id) {
  checks.at(id).attempt->Send(
      [this, id] { return MakePost(id); },
      [this, id](ServiceAttempt::Answer answer) { OnAnswer(id, std::move(answer)); });
}

net::HttpRequest LlmProbe::Impl::MakePost(CheckId id) {
  const Check& check = checks.at(id);
  net::HttpRequest post;
  post.body = ChatRequestBody(config, check.request, check.PageOrNull(), check.fault);
  post.method = "POST";
  post.url = url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Accept", "application/json, text/event-stream;q=0.5"}};
  return post;
}

void LlmProbe::Impl::OnAnswer(CheckId id, ServiceAttempt::Answer answer) {
  if (auto* failure = std::get_if<ProbeFailure>(&answer)) return Finish(id, std::move(*failure));
  OnResponse(id, std::get<net::HttpResponse>(answer));
}

void LlmProbe::Impl::OnResponse(CheckId id, const net::HttpResponse& response) {
  Check& check = checks.at(id);
  ++check.asks;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, pages::TransportFailure(response, kWhom));
  }
  if (response.status != 200) {
    return Finish(id, pages::StatusFailure(response, kWhom, deps.clock.Now()));
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
    : impl_(std::make_shared<Impl>(ServiceDependencies{loop, client, budgets, clock}, metrics,
                                   config, pages)) {}

LlmProbe::~LlmProbe() = default;

void LlmProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

void LlmProbe::Ask(ProbeRequest request, std::optional<pages::PageText> page,
                   std::function<void(ProbeResult)> done) {
  impl_->Ask(std::move(request), std::move(page), std::move(done));
}

}  // namespace vedette::worker
