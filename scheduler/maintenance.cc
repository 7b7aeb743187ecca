#include "scheduler/maintenance.h"

#include <utility>

#include "config/parts.h"
#include "config/role_config.h"
#include "domain/auth/principal.h"
#include "domain/email/verdict.h"
#include "store/audit_chain.h"

namespace vedette::scheduler {
namespace {

constexpr std::chrono::milliseconds kGaugesEvery{5000};
// An entry of the audit gets its place so much later than it was committed.
constexpr std::chrono::milliseconds kSealEvery{1000};

}  // namespace

Maintenance::Maintenance(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
                         const config::Config& config, base::Logger log)
    : metrics_(metrics),
      config_(config),
      log_(log),
      state_(std::make_shared<store::MaintenanceState>()),
      maintain_(loop, pool, log,
                {.failed = "maintenance failed", .poll = config.scheduler.maintenance_ms},
                {.begin = [this] { return Maintain(); },
                 .finish =
                     [this](const store::MaintenanceRun& run) {
                       OnMaintained(run);
                       return lease::kAtPoll;
                     }}),
      read_gauges_(
          loop, pool, log, {.failed = "reading gauges failed", .poll = kGaugesEvery},
          {.begin =
               [] { return [](store::Session& session) { return store::ReadGauges(session); }; },
           .finish =
               [this](const store::Gauges& gauges) {
                 Show(gauges);
                 return lease::kAtPoll;
               }}),
      seal_audit_(loop, pool, log, {.failed = "sealing the audit failed", .poll = kSealEvery},
                  {.begin = [] { return store::SealAudit; },
                   .finish = [](int sealed) -> lease::NextRun {
                     return sealed == store::kSealedPerRun ? lease::kAtOnce : lease::kAtPoll;
                   }}) {
  // So that each series stands at 0 before its first count.
  for (const std::string_view task : store::MaintenanceTasks()) {
    metrics_.AddMaintenanceFailures(task, 0);
  }
}

void Maintenance::Start() {
  maintain_.Start();
  read_gauges_.Start();
  seal_audit_.Start();
}

lease::Step<store::MaintenanceRun>::Job Maintenance::Maintain() {
  return [&retention = config_.retention, state = state_](store::Session& session) {
    return store::Maintain(session, retention, state.get());
  };
}

void Maintenance::OnMaintained(const store::MaintenanceRun& run) {
  for (const auto& [task, failure] : run.failures) Tell(task, failure);
}

// What gave way to others, or found the database short of something, is tried again soon.
void Maintenance::Tell(std::string_view task, const store::Failure& failure) {
  metrics_.AddMaintenanceFailures(task, 1);
  const base::Logger::Fields what{{"task", task}, {"error", failure.message}};
  if (failure.kind == store::Failure::Kind::kFault) {
    log_.Error("maintenance failed", what);
  } else {
    log_.Warn("maintenance failed", what);
  }
}

void Maintenance::Show(const store::Gauges& gauges) {
  metrics_.SetChunks("due", gauges.chunks_due);
  metrics_.SetChunks("leased", gauges.chunks_leased);
  metrics_.SetChunks("waiting", gauges.chunks_waiting);
  metrics_.SetChunkOldestDue(gauges.oldest_due);
  metrics_.SetDeliveries("pending", gauges.deliveries_pending);
  metrics_.SetDeliveries("due", gauges.deliveries_due);
  metrics_.SetDeliveries("dead", gauges.deliveries_dead);
  metrics_.SetDeliveryOldestPending(gauges.oldest_pending);
  metrics_.SetReceiversFailing(gauges.receivers_failing);
  metrics_.SetMonitorsFailing(gauges.monitors_failing);
  metrics_.SetAuditOldestUnsealed(gauges.audit_oldest_unsealed);
  using Kind = domain::PrincipalKind;
  metrics_.SetAccessTokens(domain::PrincipalKindName(Kind::kOauthClient), gauges.client_tokens);
  metrics_.SetAccessTokens(domain::PrincipalKindName(Kind::kUser), gauges.sessions);
  for (std::size_t i = 0; i < gauges.mail_hosts_blocked.size(); ++i) {
    metrics_.SetSmtpBlocked(domain::MailClassName(static_cast<domain::MailClass>(i)),
                            gauges.mail_hosts_blocked[i]);
  }
}

void Maintenance::Drain(std::function<void()> done) {
  state_->stopping = true;
  const auto ended = [left = std::make_shared<int>(3), done = std::move(done)] {
    if (--*left == 0) done();
  };
  maintain_.Drain(ended);
  read_gauges_.Drain(ended);
  seal_audit_.Drain(ended);
}

}  // namespace vedette::scheduler
