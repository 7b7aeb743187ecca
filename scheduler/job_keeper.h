#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/jobs/gauges.h"
#include "store/jobs/keeper.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::scheduler {

// Looks after jobs that nobody else looks after, every [jobs] keeper_ms: ends those whose deadline
// has come, those on which nobody works any more and those whose organisation has no room for their
// rows, makes the parts of runs larger that are quick, fails monitors that an end has left behind,
// moves chunks out of a lane that nobody serves, deletes rows that are old or that nobody reads
// and, once an hour, old jobs, and reads the gauges. Each of these tasks runs by itself: one that
// fails stops none of the others. Several processes share the work, without a leader. Loop thread
// only; everything handed in must outlive this object.
class JobKeeper {
 public:
  JobKeeper(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
            const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
            base::Logger log);

  void Start();

  // Begins nothing further. `done` is posted to the loop once nothing is under way. One call.
  void Drain(std::function<void()> done);

 private:
  using Ends = lease::Step<store::JobKeeperRun>;
  using Counts = lease::Step<int>;
  using Retires = lease::Step<std::optional<int>>;
  struct Seen {
    std::vector<store::LaneGauges> lanes;
    store::JobGauges jobs;
    std::chrono::microseconds oldest_queued_run{};
  };
  using Gauges = lease::Step<Seen>;
  // Whether the search for stalled jobs has further to go than one call does.
  struct Stalled {
    store::JobKeeperRun run;
    store::StalledCursor next;
  };

  lease::StepOptions Every(const char* failed) const;
  void OnEnded(const store::JobKeeperRun& run);
  Ends::Hooks EndHooks(std::function<store::JobKeeperRun(store::Session&)> task, int batch);
  lease::Step<Stalled>::Hooks StalledHooks();
  Counts::Hooks CountHooks(std::function<int(store::Session&)> task, int batch);
  static Retires::Hooks RetireHooks(const config::Config& config);
  void ShowGauges(const Seen& seen);

  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  const base::Logger log_;
  store::StalledCursor stalled_at_;  // where the search for stalled jobs goes on
  Ends overdue_;
  Ends over_limit_;
  Ends growing_;
  lease::Step<Stalled> stalled_;
  Counts monitors_;
  Counts lanes_;
  Retires retire_;
  Counts old_rows_;
  Counts unread_;
  Gauges gauges_;
};

}  // namespace vedette::scheduler
