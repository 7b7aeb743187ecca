#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "store/checks/chunks.h"
#include "store/session.h"
#include "store/signals.h"
#include "work/drain.h"
#include "work/lease_keeper.h"
#include "work/step.h"
#include "worker/checks/check_runner.h"
#include "worker/checks/claimer.h"
#include "worker/checks/holdings.h"
#include "worker/checks/notification_sink.h"
#include "worker/checks/pause_watch.h"
#include "worker/checks/recorder.h"
#include "worker/checks/suspects.h"
#include "worker/suspect_slot.h"

namespace vedette::worker {

// The pipeline of checks. It composes the parts below, of which each has one task:
//
//   Claimer ----> CheckRunner ----> Recorder ----> ended: not held any more
//      |              ^
//      +-> Suspects --+   chunks whose workers died repeatedly
//
// Holdings counts what is held, LeaseKeeper renews the leases on it, PauseWatch knows which checks
// may start, Drain bounds how long an end takes. Loop thread only; everything handed in must
// outlive this object.
class CheckPipeline {
 public:
  // `sink` may be null: then notifications are left to the claims of deliveries. `slot` is the one
  // of the process.
  CheckPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
                std::map<domain::Tier, TierProbe> probes, SuspectSlot& slot, NotificationSink* sink,
                base::Logger log);

  void Start();

  // Something may be due: looks at once.
  void Wake() { claimer_.Wake(); }

  // No new claims and no further checks; those in flight finish within [worker] drain_timeout_ms,
  // the rest is given back. `done` is called once nothing is held any more, and at the latest
  // work::kDrainGrace after that time, also without the database. One call.
  void Drain(std::function<void()> done);

 private:
  work::LeaseKeeper::Hooks LeaseHooks(store::Signals& signals);
  work::Step<store::ControlChanges>::Hooks PauseHooks();
  CheckRunner::Hooks RunnerHooks();
  Suspects::Hooks SuspectHooks();
  work::Drain::Hooks DrainHooks();

  void OnClaimed(Claimer::Claimed claimed);
  void Hold(const ChunkPtr& chunk, base::Timestamp now);
  void AddDecided(const ChunkPtr& chunk, base::Timestamp now);
  void OnLeaseLost(const base::Uuid& chunk_id);
  void Forget(const ChunkPtr& chunk);
  void GiveBack(const ChunkPtr& chunk);
  void GiveBackIfQuiet(const ChunkPtr& chunk);
  void GiveAllBack();
  void StopWaiting();
  void ForgetAll();

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  std::mt19937_64 random_;  // jitter only

  Holdings holdings_;
  PauseWatch pauses_;
  std::chrono::nanoseconds pauses_began_{};  // since boot: the read that is under way
  work::LeaseKeeper leases_;
  Recorder recorder_;
  CheckRunner runner_;
  Suspects suspects_;
  Claimer claimer_;
  work::Step<store::ControlChanges> read_pauses_;
  work::Drain drain_;
};

}  // namespace vedette::worker
