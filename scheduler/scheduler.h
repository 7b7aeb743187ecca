#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/session.h"
#include "store/signals.h"
#include "store/ticks.h"

namespace vedette::scheduler {

// Turns due monitors into ticks and chunks, cuts the portions of large ticks and closes them.
// Sleeps until the earliest next_run_at; several share the work, without a leader. Loop thread
// only; what is handed in outlives it.
class Scheduler {
 public:
  Scheduler(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
            const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
            base::Logger log);
  ~Scheduler();

  void Start();

  // A monitor may have become due: looks at once.
  void Wake();

  // Begins nothing further. `done` once nothing is under way.
  void Drain(std::function<void()> done);

 private:
  struct Step {
    store::CutResult due;
    store::CutResult portions;
    store::CutResult next;
    int closed = 0;
  };
  void Run();
  void OnStep(const Step& step);

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  base::Timer timer_;
  bool running_ = false;
  bool again_ = false;
  std::function<void()> drained_;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::scheduler
