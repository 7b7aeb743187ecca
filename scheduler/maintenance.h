#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/fleet.h"
#include "store/maintenance.h"
#include "store/session.h"

namespace vedette::scheduler {

// Partitions and retention (store/maintenance.h), one process of the fleet at a time, and the
// gauges that every process shows. A task that fails is logged and counted. Loop thread only;
// what is handed in outlives it.
class Maintenance {
 public:
  Maintenance(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
              const config::Config& config, base::Logger log);
  ~Maintenance();

  void Start();
  void Drain(std::function<void()> done);

 private:
  void Run();
  void Tell(std::string_view task, const store::Failure& failure);
  void ReadGauges();

  base::EventLoop& loop_;
  store::Pool& pool_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  base::Timer timer_;
  base::Timer gauge_timer_;
  bool maintaining_ = false;
  int running_ = 0;
  std::function<void()> drained_;
  std::shared_ptr<store::MaintenanceState> state_;  // of the run that is under way
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::scheduler
