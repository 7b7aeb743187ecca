#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/fleet/fleet.h"
#include "store/fleet/maintenance.h"
#include "store/session.h"

namespace vedette::scheduler {

// Partitions and retention (store/fleet/maintenance.h), one process of the fleet at a time, the
// gauges that every process shows, and the sealing of the audit. A task that fails is logged and
// counted. Loop thread only; everything handed in must outlive this object.
class Maintenance {
 public:
  Maintenance(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
              const config::Config& config, base::Logger log);

  void Start();
  void Drain(std::function<void()> done);

 private:
  lease::Step<store::MaintenanceRun>::Job Maintain();
  void OnMaintained(const store::MaintenanceRun& run);
  void Tell(std::string_view task, const store::Failure& failure);
  void Show(const store::Gauges& gauges);

  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  std::shared_ptr<store::MaintenanceState> state_;  // of the run that is under way
  lease::Step<store::MaintenanceRun> maintain_;
  lease::Step<store::Gauges> read_gauges_;
  lease::Step<int> seal_audit_;  // store/audit_chain.h
};

}  // namespace vedette::scheduler
