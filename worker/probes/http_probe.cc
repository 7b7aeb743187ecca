#include "worker/probes/http_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "domain/signature.h"
#include "net/retry_after.h"
#include "worker/probes/http_failure.h"
#include "worker/probes/research_answer.h"
#include "worker/probes/spec_cache.h"
#include "worker/probes/url_reference.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kWhom = "the research service";
// Between polls, where the service does not say; and at least, whatever it says.
constexpr milliseconds kPollDefault{1000};
constexpr milliseconds kPollMin{100};
// Monitors whose part of the request is kept, and of what length together.
constexpr std::size_t kMonitorsKeptMax = 256;
constexpr std::size_t kMembersKeptBytesMax = 4 << 20;

}  // namespace

struct HttpProbe::Impl : std::enable_shared_from_this<HttpProbe::Impl> {
  using CheckId = std::uint64_t;

  struct Check {
    ProbeRequest request;
    std::function<void(ProbeResult)> done;
    std::chrono::nanoseconds deadline{};  // of the attempt, by Clock::SinceBoot; waits excluded
    std::unique_ptr<RequestRoom> room;    // of what is asked
    milliseconds waited{};                // for it
    std::string location;                 // polled; empty before the first 202
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const ServiceBudgets& b, const base::Clock& k,
       const config::ProbeConfig& p)
      : loop(l), client(c), budgets(b), clock(k), config(p) {}

  void Start(ProbeRequest request, std::function<void(ProbeResult)> done);
  std::string Body(const ProbeRequest& request);
  void Post(CheckId id);
  void OnRoom(CheckId id, std::optional<milliseconds> waited);
  void Send(CheckId id, net::HttpRequest request);
  bool OnTurn(CheckId id, milliseconds waited);
  void OnResponse(CheckId id, net::HttpResponse response);
  void OnAccepted(CheckId id, Check& check, const net::HttpResponse& response);
  void Poll(CheckId id);
  void Finish(CheckId id, ProbeResult result);

  milliseconds Left(const Check& check) const {
    return std::chrono::floor<milliseconds>(check.deadline - clock.SinceBoot());
  }

  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
  const config::ProbeConfig config;

  std::unordered_map<CheckId, Check> checks;
  CheckId last_id = 0;

  SpecCache<std::string> monitor_members{kMonitorsKeptMax, kMembersKeptBytesMax};
};

void HttpProbe::Impl::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  const CheckId id = ++last_id;
  Check check;
  check.done = std::move(done);
  check.deadline = clock.SinceBoot() + request.timeout;
  check.room = std::make_unique<RequestRoom>(loop, budgets.questions, request.org_id);
  check.request = std::move(request);
  checks.emplace(id, std::move(check));
  Post(id);
}

std::string HttpProbe::Impl::Body(const ProbeRequest& request) {
  if (const auto kept = monitor_members.Find(request.spec)) {
    return ResearchRequestBody(request, *kept);
  }
  auto members = std::make_shared<const std::string>(ResearchMonitorMembers(*request.spec));
  monitor_members.Keep(request.spec, members, members->size());
  return ResearchRequestBody(request, *members);
}

void HttpProbe::Impl::Post(CheckId id) {
  Check& check = checks.at(id);
  net::HttpRequest post;
  post.body = Body(check.request);
  if (!check.room->Take(post.body.size(), check.request.deadline_left,
                        [this, id](std::optional<milliseconds> waited) { OnRoom(id, waited); })) {
    return;
  }
  post.method = "POST";
  post.url = config.url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Idempotency-Key", check.request.check_id.ToString()}};
  Send(id, std::move(post));
}

void HttpProbe::Impl::OnRoom(CheckId id, std::optional<milliseconds> waited) {
  if (!waited) return Finish(id, OverloadedFailure());
  Check& check = checks.at(id);
  check.deadline += *waited;
  check.waited += *waited;
  Post(id);
}

bool HttpProbe::Impl::OnTurn(CheckId id, milliseconds waited) {
  const auto it = checks.find(id);
  if (it == checks.end()) return false;
  Check& check = it->second;
  check.deadline += waited;
  waited += std::exchange(check.waited, milliseconds(0));
  return !check.request.on_turn || check.request.on_turn(waited);
}

void HttpProbe::Impl::Send(CheckId id, net::HttpRequest request) {
  request.headers.emplace_back("Accept", "application/json");
  if (!config.api_key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + config.api_key);
  }
  if (!config.signing_secret.empty()) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now().time_since_epoch());
    request.headers.emplace_back(
        "Service-Signature",
        domain::SignatureHeader({config.signing_secret}, now.count(), request.body));
  }
  const Check& check = checks.at(id);
  request.trust = net::Trust::kOperator;
  request.org = check.request.org_id;
  request.timeout = std::max(Left(check), milliseconds(1));
  request.wait_max = kTurnWaitMax;
  request.on_turn = [id, weak = weak_from_this()](milliseconds waited) {
    const auto self = weak.lock();
    return self != nullptr && self->OnTurn(id, waited);
  };
  request.budget = &budgets.answers;
  request.body_bytes_max = config.body_bytes_max;
  client.Send(std::move(request), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, std::move(response));
  });
}

void HttpProbe::Impl::OnResponse(CheckId id, net::HttpResponse response) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, TransportFailure(response, kWhom));
  }
  if (response.status == 200)
    return Finish(id, ParseResearchAnswer(response.body, *it->second.request.spec));
  if (response.status == 202) return OnAccepted(id, it->second, response);
  Finish(id, StatusFailure(response, kWhom, clock.Now()));
}

void HttpProbe::Impl::OnAccepted(CheckId id, Check& check, const net::HttpResponse& response) {
  check.room.reset();  // what was asked has gone
  if (const auto header = response.Header("location")) {
    const std::string& from = check.location.empty() ? config.url : check.location;
    check.location = ResolveReference(from, *header);
  }
  if (check.location.empty() || !SameOrigin(check.location, config.url)) {
    return Finish(
        id, ProbeFailure{"invalid_answer",
                         "The research service answered 202 without a Location of its origin.",
                         false,
                         {}});
  }
  const milliseconds wait =
      std::max(net::RetryAfter(response, clock.Now()).value_or(kPollDefault), kPollMin);
  if (wait >= Left(check)) {
    // The next attempt carries the same Idempotency-Key and may find the answer ready.
    return Finish(
        id,
        ProbeFailure{"timeout", "The research service did not have its answer within the timeout.",
                     true, wait});
  }
  check.timer = std::make_unique<base::Timer>(loop, [this, id] { Poll(id); });
  check.timer->Start(wait);
}

void HttpProbe::Impl::Poll(CheckId id) {
  net::HttpRequest get;
  get.url = checks.at(id).location;
  Send(id, std::move(get));
}

void HttpProbe::Impl::Finish(CheckId id, ProbeResult result) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  const auto done = std::move(it->second.done);
  checks.erase(it);
  done(std::move(result));
}

HttpProbe::HttpProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                     const base::Clock& clock, const config::ProbeConfig& config)
    : impl_(std::make_shared<Impl>(loop, client, budgets, clock, config)) {}

HttpProbe::~HttpProbe() = default;

void HttpProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
