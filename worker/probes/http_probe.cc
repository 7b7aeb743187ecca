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
// Monitors whose part of the request is kept.
constexpr std::size_t kMonitorsKeptMax = 256;

}  // namespace

struct HttpProbe::Impl : std::enable_shared_from_this<HttpProbe::Impl> {
  using CheckId = std::uint64_t;

  struct Check {
    std::shared_ptr<const ProbeSpec> spec;
    std::function<void(ProbeResult)> done;
    std::chrono::nanoseconds deadline{};  // of the attempt, by Clock::SinceBoot
    std::string location;                 // polled; empty before the first 202
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const base::Clock& k, const config::ProbeConfig& p)
      : loop(l), client(c), clock(k), config(p) {}

  void Start(ProbeRequest request, std::function<void(ProbeResult)> done);
  void Send(CheckId id, net::HttpRequest request);
  void OnResponse(CheckId id, net::HttpResponse response);
  void OnAccepted(CheckId id, Check& check, const net::HttpResponse& response);
  void Poll(CheckId id);
  void Finish(CheckId id, ProbeResult result);

  milliseconds Left(const Check& check) const {
    return std::chrono::floor<milliseconds>(check.deadline - clock.SinceBoot());
  }

  base::EventLoop& loop;
  net::HttpClient& client;
  const base::Clock& clock;
  const config::ProbeConfig config;

  std::unordered_map<CheckId, Check> checks;
  CheckId last_id = 0;

  SpecCache<std::string> monitor_members{kMonitorsKeptMax};
};

void HttpProbe::Impl::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  const CheckId id = ++last_id;
  net::HttpRequest post;
  post.method = "POST";
  post.url = config.url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Idempotency-Key", request.check_id.ToString()}};
  auto members = monitor_members.Find(request.spec);
  if (members == nullptr) {
    members = std::make_shared<const std::string>(ResearchMonitorMembers(*request.spec));
    monitor_members.Keep(request.spec, members);
  }
  post.body = ResearchRequestBody(request, *members);
  Check check;
  check.spec = std::move(request.spec);
  check.done = std::move(done);
  check.deadline = clock.SinceBoot() + request.timeout;
  checks.emplace(id, std::move(check));
  Send(id, std::move(post));
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
  request.trust = net::Trust::kOperator;
  request.timeout = std::max(Left(checks.at(id)), milliseconds(1));
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
    return Finish(id, ParseResearchAnswer(response.body, *it->second.spec));
  if (response.status == 202) return OnAccepted(id, it->second, response);
  Finish(id, StatusFailure(response, kWhom, clock.Now()));
}

void HttpProbe::Impl::OnAccepted(CheckId id, Check& check, const net::HttpResponse& response) {
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

HttpProbe::HttpProbe(base::EventLoop& loop, net::HttpClient& client, const base::Clock& clock,
                     const config::ProbeConfig& config)
    : impl_(std::make_shared<Impl>(loop, client, clock, config)) {}

HttpProbe::~HttpProbe() = default;

void HttpProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
