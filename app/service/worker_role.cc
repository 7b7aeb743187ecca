#include "app/service/worker_role.h"

#include "app/mail_check.h"
#include "app/service/drain_parts.h"
#include "config/config.h"
#include "config/lookup_config.h"

namespace vedette::app {

WorkerRole::WorkerRole(const Core& core, const Duties& duties, Pools& pools, ProbeSet& probes,
                       worker::NotificationSink* sink)
    : loop_(core.loop) {
  if (duties.checks()) BuildChecks(core, *pools.worker, probes, sink);
  if (!duties.job_lanes().empty()) BuildJobs(core, *pools.jobs, probes);
  const config::SmtpConfig& smtp = core.config.smtp;
  const bool examines = !smtp.doctor_domains.empty() || !smtp.doctor_lists.empty();
  if (examines && duties.job_lanes().contains(domain::Lane::kSmtp)) {
    mail_watch_ = std::make_unique<MailWatch>(
        loop_, core.metrics, core.log.For("email"),
        [&config = core.config, &clock = core.clock] { return ExamineMail(config, clock); });
  }
}

void WorkerRole::BuildChecks(const Core& core, store::Pool& pool, ProbeSet& probes,
                             worker::NotificationSink* sink) {
  checks_ = std::make_unique<worker::CheckPipeline>(loop_, pool, core.signals, core.clock,
                                                    core.metrics, core.config, probes.tiers(),
                                                    suspect_slot_, sink, core.log.For("worker"));
  core.signals.Listen(store::Signal::kChunk, [this] { loop_.Post([this] { checks_->Wake(); }); });
}

void WorkerRole::BuildJobs(const Core& core, store::Pool& pool, ProbeSet& probes) {
  worker::TierProbes tiers;
  for (const auto& [tier, probe] : probes.tiers()) tiers[tier] = {probe.probe, probe.config};
  row_blocks_ = std::make_unique<RowBlockSet>(
      loop_, core.clock, core.metrics, probes.service_client(), probes.service_budgets(),
      probes.sites(), pool, core.policy, core.config, tiers, core.log.For("lookups"));
  jobs_ = std::make_unique<worker::JobPipeline>(loop_, pool, core.signals, core.clock, core.metrics,
                                                core.config, row_blocks_->all(), suspect_slot_,
                                                core.log.For("jobs"));
  core.signals.Listen(store::Signal::kJobChunk, [this] { loop_.Post([this] { jobs_->Wake(); }); });
}

void WorkerRole::Start() {
  if (checks_) checks_->Start();
  if (jobs_) jobs_->Start();
  if (mail_watch_) mail_watch_->Start();
}

void WorkerRole::Drain() {
  DrainParts(loop_, checks_.get(), jobs_.get());
}

std::optional<std::string> WorkerRole::mail_seen() const {
  return mail_watch_ ? mail_watch_->seen() : std::nullopt;
}

std::optional<std::string> WorkerRole::AilingProviders() const {
  return row_blocks_ ? std::optional(row_blocks_->AilingProvidersJson()) : std::nullopt;
}

}  // namespace vedette::app
