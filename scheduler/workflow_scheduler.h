#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/jobs/scheduled_runs.h"
#include "store/jobs/start.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::scheduler {

// Starts the run of a slot, and takes the slot with it, or says why the workflow cannot run. Plain
// blocking code on the pool's thread; app builds it, as the API's folder plans runs.
using SlotStart = std::variant<store::StartOutcome, store::WorkflowFault, store::SlotIsTaken>;
using StartSlot =
    std::function<SlotStart(store::Session&, const store::DueSchedule&, const store::SlotTaken&)>;

// What a look at a schedule did.
struct ScheduleLook {
  bool looked = false;  // there was one to be looked at
  std::optional<store::JobStarted> started;
};

// Claims a schedule and does the next thing about it (domain/workflow/run_schedule.h). Throws as
// InTransaction does: then nothing was decided, and it is looked at again once its lease has ended.
// A look takes milliseconds; the lease is what one costs that failed, or whose process died.
ScheduleLook LookAtSchedule(store::Session& session, const StartSlot& start,
                            std::chrono::milliseconds lease);

// Starts the runs of workflows on a schedule, one look after the other. Sleeps until the next
// schedule is to be looked at; several processes share the work, without a leader. Loop thread
// only; everything handed in must outlive this object.
class WorkflowScheduler {
 public:
  WorkflowScheduler(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                    metrics::Metrics& metrics, const config::Config& config, StartSlot start,
                    base::Logger log);

  void Start();

  // A schedule may have become due: looks at once.
  void Wake();

  // Begins no further look. `done` once none is under way.
  void Drain(std::function<void()> done);

 private:
  struct RunResult {
    ScheduleLook look;
    store::NextLook next;
  };
  lease::NextRun OnLook(const RunResult& result);

  store::Signals& signals_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  lease::Step<RunResult> step_;
};

}  // namespace vedette::scheduler
