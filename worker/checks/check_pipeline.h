#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/pipeline.h"
#include "lease/suspect_slot.h"
#include "lease/watch.h"
#include "metrics/metrics.h"
#include "store/checks/chunks.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/checks/check_claimer.h"
#include "worker/checks/check_recorder.h"
#include "worker/checks/check_runner.h"
#include "worker/checks/check_suspects.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"

namespace vedette::worker {

// The pipeline of checks (lease/pipeline.h). What it has of its own:
//
//   CheckClaimer ----> CheckRunner ----> CheckRecorder
//      |                   ^
//      +-> CheckSuspects --+   chunks whose workers died repeatedly
//
// A watch reads what was paused, by which it is known which checks may start. Loop thread only;
// everything handed in must outlive this object.
class CheckPipeline final : public lease::Pipeline<CheckKind> {
 public:
  // `sink` may be null: then notifications are left to the claims of deliveries. `slot` is the one
  // of the process.
  CheckPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
                std::map<domain::Tier, TierProbe> probes, lease::SuspectSlot& slot,
                NotificationSink* sink, base::Logger log);

  void Start();

 private:
  using PauseWatch = lease::Watch<store::ControlChanges>;

  lease::Claimer<CheckKind>& claimer() override { return claimer_; }
  lease::Recorder<CheckKind>& recorder() override { return recorder_; }
  lease::Suspects<HeldChunk>& suspects() override { return suspects_; }
  void Begin(const ChunkPtr& chunk) override;
  void Pump() override { runner_.Pump(); }
  void DropWaiting() override { runner_.DropWaiting(); }
  void OnLeaseLost(const ChunkPtr& chunk) override;
  void OnClaimedAgain() override { metrics_.AddLeaseLost(1); }

  PauseWatch::Hooks PauseHooks();
  CheckRunner::Hooks RunnerHooks();
  CheckSuspects::Hooks SuspectHooks();
  CheckClaimer::Hooks ClaimHooks();

  void OnClaimed(const std::vector<ChunkPtr>& chunks, base::Timestamp now);
  void AddDecided(const ChunkPtr& chunk);

  metrics::Metrics& metrics_;
  std::mt19937_64 random_;  // jitter only

  std::optional<base::Timestamp> control_since_;  // of the last read of pauses
  PauseWatch pauses_;
  CheckRecorder recorder_;
  CheckRunner runner_;
  CheckSuspects suspects_;
  CheckClaimer claimer_;
};

}  // namespace vedette::worker
