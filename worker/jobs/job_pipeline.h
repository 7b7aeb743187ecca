#pragma once

#include <chrono>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/job.h"
#include "lease/drain.h"
#include "lease/lease_keeper.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/jobs/hold.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/block_runs.h"
#include "worker/jobs/held_watch.h"
#include "worker/jobs/job_claimer.h"
#include "worker/jobs/job_holdings.h"
#include "worker/jobs/job_recorder.h"
#include "worker/jobs/part_pump.h"
#include "worker/jobs/row_pump.h"
#include "worker/jobs/serial_rows.h"
#include "worker/suspect_slot.h"

namespace vedette::worker {

// How long a chunk is put back whose block this process has no code for: a binary of another
// version may have it.
inline constexpr std::chrono::seconds kUnknownBlockWait{30};

// How long a part is put back that could not be made because the database did not answer.
inline constexpr std::chrono::seconds kPartAgain{1};

// The lanes of `[worker] lanes` that a process can serve: `smtp` is among them where [email.smtp]
// has a hello_name.
std::set<domain::Lane> ServedLanes(const config::Config& config);

// The pipeline of jobs. It composes the parts below, of which each has one task:
//
//   JobClaimer ----> RowPump ----> JobRecorder ----> ended: not held any more
//       |               ^            ^  |
//       +-> SerialRows -+            |  +--> put back: all that is left is to be tried later
//       |               v            |
//       +-----------> PartPump ------+  parts that are made as a whole
//
// JobHoldings counts what is held, LeaseKeeper renews the leases on it, HeldWatch knows which
// chunks may start rows, BlockRuns knows what runs them, Drain bounds how long an end takes. Loop
// thread only; everything handed in must outlive this object.
class JobPipeline {
 public:
  // `blocks` are those that this process has code for, each of another type; `slot` is the one of
  // the process.
  JobPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
              const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
              const std::vector<RowBlock*>& blocks, SuspectSlot& slot, base::Logger log);

  void Start();

  // Something may be due: looks at once.
  void Wake() { claimer_.Wake(); }

  // No new claims and no further rows; those in flight finish within [worker] drain_timeout_ms, the
  // rest is given back. `done` is called once nothing is held any more, and at the latest
  // lease::kDrainGrace after that time, also without the database. One call.
  void Drain(std::function<void()> done);

 private:
  lease::LeaseKeeper::Hooks LeaseHooks();
  JobRecorder::Hooks RecorderHooks();
  RowPump::Hooks PumpHooks();
  PartPump::Hooks PartHooks();
  HeldWatch::Hooks WatchHooks();
  SerialRows::Hooks SerialHooks();
  lease::Step<bool>::Hooks PutBackHooks(store::Signals& signals);
  lease::Drain::Hooks DrainHooks();

  void OnClaimed(JobClaimer::Claimed claimed);
  void Hold(JobClaimer::Loaded loaded, const JobClaimer::Claimed& claimed);
  void Begin(const JobChunkPtr& chunk);
  void OnLost(const JobChunkPtr& chunk);
  void OnRecorded(const JobChunkPtr& chunk);
  void Forget(const JobChunkPtr& chunk);
  void PutBack(const JobChunkPtr& chunk, std::chrono::milliseconds delay,
               domain::JobWait waits_for = domain::JobWait::kUntold);
  void SendBack(const store::Lease& lease, std::chrono::milliseconds delay,
                domain::JobWait waits_for = domain::JobWait::kUntold);
  void Stop(const JobChunkPtr& chunk);
  void PutBackIfQuiet(const JobChunkPtr& chunk);
  void StopAll();
  void StopWaiting();
  void ForgetAll();

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  std::mt19937_64 random_;  // jitter only

  JobHoldings holdings_;
  BlockRuns runs_;
  lease::LeaseKeeper leases_;
  JobRecorder recorder_;
  RowPump pump_;
  PartPump parts_;
  HeldWatch watch_;
  SerialRows serial_;
  JobClaimer claimer_;
  std::vector<store::JobPutBack> put_backs_;  // for the next statement
  lease::Step<bool> put_back_;
  lease::Drain drain_;
};

}  // namespace vedette::worker
