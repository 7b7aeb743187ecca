#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/checks/ticks.h"
#include "store/monitors/uploads.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::scheduler {

// Turns due monitors into ticks and chunks, cuts the portions of large ticks and closes them.
// Sleeps until the earliest next_run_at is near (domain::kCutAheadMin); several share the work,
// without a leader. Loop thread only; everything handed in must outlive this object.
class Scheduler {
 public:
  Scheduler(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
            const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
            base::Logger log);

  void Start();

  // A monitor may have become due: looks at once.
  void Wake();

  // Begins nothing further. `done` once nothing is under way.
  void Drain(std::function<void()> done);

 private:
  // What one run did.
  struct RunResult {
    store::MaterialiseResult due;
    store::MaterialiseResult portions;
    store::NextMaterialisation next;
    store::ClosedTicks closed;
  };
  lease::Step<RunResult>::Job Begin();
  lease::NextRun OnRun(const RunResult& result);

  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  // Shared with the run that is under way; there is one at a time.
  const std::shared_ptr<store::MaterialiseBounds> bounds_ =
      std::make_shared<store::MaterialiseBounds>();
  lease::Step<RunResult> step_;
};

// Adds the rows of monitors that were made from uploaded files, a batch at a time. Any process may
// take the next batch; one that dies leaves its batch undone, never half done. Loop thread only;
// everything handed in must outlive this object.
class Importer {
 public:
  Importer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
           const base::Clock& clock, const config::Config& config, base::Logger log);

  void Start();

  // A file may be waiting: looks at once.
  void Wake();

  // Begins no further batch. `done` once none is under way.
  void Drain(std::function<void()> done);

 private:
  lease::NextRun OnBatch(store::ImportStep batch);

  store::Signals& signals_;
  lease::Step<store::ImportStep> step_;
};

}  // namespace vedette::scheduler
