#include "app/service/scheduler_role.h"

#include "app/service/drain_parts.h"

namespace vedette::app {

SchedulerRole::SchedulerRole(const Core& core, store::Pool& pool) : loop_(core.loop) {
  ticker_ = std::make_unique<scheduler::Scheduler>(
      loop_, pool, core.signals, core.clock, core.metrics, core.config, core.log.For("scheduler"));
  maintenance_ = std::make_unique<scheduler::Maintenance>(loop_, pool, core.metrics, core.config,
                                                          core.log.For("maintenance"));
  importer_ = std::make_unique<scheduler::Importer>(loop_, pool, core.signals, core.clock,
                                                    core.config, core.log.For("importer"));
  job_keeper_ = std::make_unique<scheduler::JobKeeper>(
      loop_, pool, core.signals, core.clock, core.metrics, core.config, core.log.For("jobs"));
  core.signals.Listen(store::Signal::kDue, [this] {
    loop_.Post([this] {
      ticker_->Wake();
      importer_->Wake();
    });
  });
}

void SchedulerRole::Start() {
  ticker_->Start();
  importer_->Start();
  maintenance_->Start();
  job_keeper_->Start();
}

void SchedulerRole::Drain() {
  DrainParts(loop_, ticker_.get(), importer_.get(), maintenance_.get(), job_keeper_.get());
}

}  // namespace vedette::app
