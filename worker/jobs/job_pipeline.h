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
#include "domain/job/job.h"
#include "lease/pipeline.h"
#include "lease/suspect_slot.h"
#include "lease/watch.h"
#include "metrics/metrics.h"
#include "store/jobs/claim.h"
#include "store/lease.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/block_runs.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_claimer.h"
#include "worker/jobs/job_kind.h"
#include "worker/jobs/job_recorder.h"
#include "worker/jobs/part_pump.h"
#include "worker/jobs/row_pump.h"
#include "worker/jobs/serial_rows.h"

namespace vedette::worker {

// How often a process looks which of its job chunks it still holds. An answer is good for
// store::kJobHeldFresh, so that three looks in a row may fail before rows wait for one.
inline constexpr std::chrono::milliseconds kHeldReadEvery{1000};

// Looks which of the held chunks are still this process's and may run, and notes with each how old
// that knowledge is: so a job that ends, and an organisation that is locked, stop (G5). Loop thread
// only; everything handed in must outlive this object.
class HeldWatch {
 public:
  struct Hooks {
    // The lease is another process's, or the chunk is gone.
    std::function<void(const JobChunkPtr&)> lost;
    // The chunk's organisation is locked: no further row of it starts.
    std::function<void(const JobChunkPtr&)> locked;
    // A look has taken effect: rows may start again.
    std::function<void()> looked;
  };

  HeldWatch(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
            const JobHoldings& holdings, Hooks hooks);

  void Start() { watch_.Start(); }
  // Looks at once, unless a look is under way.
  void Wake() { watch_.Wake(); }

 private:
  struct Look {
    std::vector<store::Lease> asked;
    std::vector<store::JobLeaseState> held;
  };
  using Looks = lease::Watch<Look>;

  Looks::Job Ask() const;
  void OnLooked(const Look& look, std::chrono::nanoseconds began);

  const JobHoldings& holdings_;
  const Hooks hooks_;
  Looks watch_;
};

// For how long a chunk is given back whose block this process has no code for: a binary of another
// version may have it.
inline constexpr std::chrono::seconds kUnknownBlockWait{30};

// For how long a part is given back that could not be made because the database did not answer.
inline constexpr std::chrono::seconds kPartAgain{1};

// The lanes of `[worker] lanes` that a process can serve: `smtp` is among them where [email.smtp]
// has a hello_name.
std::set<domain::Lane> ServedLanes(const config::Config& config);

// The pipeline of jobs (lease/pipeline.h). What it has of its own:
//
//   JobClaimer ----> RowPump ----> JobRecorder
//       |               ^            ^  |
//       +-> SerialRows -+            |  +--> given back: all that is left is to be tried later
//       |               v            |
//       +-----------> PartPump ------+  parts that are made as a whole
//
// HeldWatch knows which chunks may start rows, BlockRuns knows what runs them. Loop thread only;
// everything handed in must outlive this object.
class JobPipeline final : public lease::Pipeline<JobKind> {
 public:
  // `blocks` are those that this process has code for, each of another type; `slot` is the one of
  // the process.
  JobPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
              const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
              const std::vector<RowBlock*>& blocks, lease::SuspectSlot& slot, base::Logger log);

  void Start();

 private:
  lease::Claimer<JobKind>& claimer() override { return claimer_; }
  lease::Recorder<JobKind>& recorder() override { return recorder_; }
  lease::Suspects<HeldJobChunk>& suspects() override { return serial_; }
  void Begin(const JobChunkPtr& chunk) override;
  void OnRecorded(const JobChunkPtr& chunk) override;
  void Pump() override;
  void DropWaiting() override { pump_.DropWaiting(); }
  void OnLeaseLost(const JobChunkPtr& chunk) override;
  void OnClaimedAgain() override { metrics_.AddLeaseLost(1); }
  void OnForgotten() override { parts_.ShowHeld(); }

  RowPump::Hooks PumpHooks();
  PartPump::Hooks PartHooks();
  HeldWatch::Hooks WatchHooks();
  SerialRows::Hooks SerialHooks();

  void OnClaimed(ClaimedJobs claimed);
  void HoldOrRefuse(ClaimedJobs::Loaded loaded, const ClaimedJobs& claimed);

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  std::mt19937_64 random_;  // jitter only

  BlockRuns runs_;
  JobRecorder recorder_;
  RowPump pump_;
  PartPump parts_;
  HeldWatch watch_;
  SerialRows serial_;
  JobClaimer claimer_;
};

}  // namespace vedette::worker
