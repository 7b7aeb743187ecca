#include "worker/probes/http_probe.h"

#include <utility>
#include <variant>

#include "config/role_config.h"
#include "worker/probes/research_answer.h"
#include "worker/probes/spec_cache.h"
#include "worker/services/service_call.h"

namespace vedette::worker {
namespace {

// Monitors whose part of the request is kept, and of what length together.
constexpr std::size_t kMonitorsKeptMax = 256;
constexpr std::size_t kMembersKeptBytesMax = 4 << 20;

}  // namespace

struct HttpProbe::Impl {
  Impl(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
       const base::Clock& clock, const config::ProbeConfig& config)
      : caller(loop, client, budgets, clock,
               {config.url, config.api_key, config.signing_secret, config.body_bytes_max,
                "research service"}) {}

  std::string Body(const ProbeRequest& request);

  SpecCache<std::string> monitor_members{kMonitorsKeptMax, kMembersKeptBytesMax};
  ServiceCaller caller;
};

std::string HttpProbe::Impl::Body(const ProbeRequest& request) {
  if (const auto kept = monitor_members.Find(request.spec)) {
    return ResearchRequestBody(request, *kept);
  }
  auto members = std::make_shared<const std::string>(ResearchMonitorMembers(*request.spec));
  monitor_members.Keep(request.spec, members, members->size());
  return ResearchRequestBody(request, *members);
}

HttpProbe::HttpProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                     const base::Clock& clock, const config::ProbeConfig& config)
    : impl_(std::make_unique<Impl>(loop, client, budgets, clock, config)) {}

HttpProbe::~HttpProbe() = default;

void HttpProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  ServiceQuestion question;
  question.org_id = request.org_id;
  question.idempotency_key = request.check_id;
  question.timeout = request.timeout;
  question.room_wait_max = request.deadline_left;
  question.turn_wait_max = kTurnWaitMax;
  question.on_turn = request.on_turn;
  const auto shared = std::make_shared<const ProbeRequest>(std::move(request));
  question.body = [impl = impl_.get(), shared] { return impl->Body(*shared); };
  impl_->caller.Ask(std::move(question), [shared, done = std::move(done)](ServiceAnswer answer) {
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    done(ParseResearchAnswer(std::get<net::HttpResponse>(answer).body, *shared->spec));
  });
}

}  // namespace vedette::worker
