#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/probe_config.h"
#include "domain/names.h"
#include "metrics/metrics.h"
#include "work/live.h"
#include "worker/checks/claim_room.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/holdings.h"
#include "worker/checks/notification_sink.h"
#include "worker/checks/pause_watch.h"
#include "worker/probes/probe.h"
#include "worker/start_turns.h"

namespace vedette::worker {

// The probe that serves a tier.
struct TierProbe {
  std::string kind;  // label of the metric
  Probe* probe = nullptr;
  config::ProbeConfig config;
};

// How long a check waits before its next attempt: nothing where the failure is its result, because
// it cannot pass, the attempts are used up, or the wait would end at its deadline or after it.
// `attempts` counts those that were made, at least 1; `left` is what is left until the deadline;
// `random` is uniform in [0, 1). Pure.
std::optional<std::chrono::milliseconds> WaitForRetry(const ProbeFailure& failure, int attempts,
                                                      int attempts_max,
                                                      std::chrono::nanoseconds left, double random);

// Starts the rows of held chunks in turns (StartTurns), and of each organisation up to its share of
// the slots (G10). Tries a check again within its deadline, and turns what the probe observed into
// a result. Starts no check whose monitor is not known to be live as of a moment ago (G5).
//
// Needs no database: what it has found out, or wants, it tells by its hooks. A hook may call back
// into the runner. Loop thread only; everything handed in must outlive this object.
class CheckRunner {
 public:
  struct Hooks {
    // A row has its outcome: a check of it ended, or it is not to be checked.
    std::function<void(const ChunkPtr&, CheckResult)> result;
    // A check ended without a result, because its chunk is not worked on any more.
    std::function<void(const ChunkPtr&)> dropped;
    // A check would start, but what is known of pauses is too old: read them, then call Pump.
    std::function<void()> stale;
  };

  CheckRunner(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
              const RoomLimits& limits, std::map<domain::Tier, TierProbe> probes,
              NotificationSink* sink, Holdings& holdings, const PauseWatch& pauses,
              base::Logger log, Hooks hooks);

  // The chunk's rows without an outcome are to be started. The chunk is held.
  void Enqueue(const ChunkPtr& chunk);

  // Starts checks while there is room.
  void Pump();

  // Drops what waits: rows that are not started, and checks between two attempts. The chunks of
  // both are not worked on any more.
  void DropWaiting();

  // Every row was started, and there is room for more.
  bool RanOut() const;
  // Rows that are neither started nor have an outcome.
  std::size_t RowsWaiting() const;

 private:
  struct Check;

  bool StartNext(const ChunkPtr& chunk);
  void StartCheck(const ChunkPtr& chunk, RowRef ref);
  void Attempt(const std::shared_ptr<Check>& check);
  bool OnTurn(Check& check, std::chrono::milliseconds waited);
  void OnProbed(const std::shared_ptr<Check>& check, const ProbeResult& result);
  void NoteFailure(Check* noted, const ProbeFailure& failure) const;
  void Withdraw(const std::shared_ptr<Check>& check);
  void Finish(const std::shared_ptr<Check>& check, const ProbeResult& result);
  void CountDuration(Check& check);
  void RetryLater(const std::shared_ptr<Check>& check, std::chrono::milliseconds delay);
  void RunRetries();

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const RoomLimits limits_;
  const std::map<domain::Tier, TierProbe> probes_;
  NotificationSink* const sink_;  // may be null
  Holdings& holdings_;
  const PauseWatch& pauses_;
  const base::Logger log_;
  const Hooks hooks_;
  std::mt19937_64 random_;  // jitter only

  StartTurns<ChunkPtr> startable_;  // with rows that are not started
  std::multimap<std::chrono::nanoseconds, std::shared_ptr<Check>> retries_;  // by time since boot
  bool pumping_ = false;
  base::Timer retry_timer_;
  work::Live live_;
};

}  // namespace vedette::worker
