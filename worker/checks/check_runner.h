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
#include "base/thread_pool.h"
#include "domain/monitor/enums.h"
#include "lease/later.h"
#include "lease/live.h"
#include "lease/start_turns.h"
#include "metrics/metrics.h"
#include "worker/checks/claim_room.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"
#include "worker/probes/probe.h"

namespace vedette::worker {

struct Verdict;  // verdict.h

// The probe that serves a tier.
struct TierProbe {
  std::string kind;  // label of the metric
  Probe* probe = nullptr;
  std::chrono::milliseconds timeout{};   // of one attempt
  std::chrono::milliseconds deadline{};  // of the check, retries included
  int attempts_max = 1;
};

// Starts the rows of held chunks in turns (StartTurns), and of each organisation up to its share of
// the slots (G10). Tries a check again within its deadline, and turns what the probe observed into
// a result. Starts no check whose monitor is not known to be live as of a moment ago (G5).
//
// What was observed is compared on the loop; on threads of its own where the monitor's rules have
// patterns, whose cost is the customer's and the page's to choose.
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

  // No check starts on knowledge of `age_max` or older of its monitor (lease/watch.h).
  CheckRunner(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
              const RoomLimits& limits, std::map<domain::Tier, TierProbe> probes,
              NotificationSink* sink, CheckHoldings& holdings, std::chrono::milliseconds age_max,
              base::Logger log, Hooks hooks);

  // The chunk's rows without an outcome are to be started, each once its slot has come. The chunk
  // is held.
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

  // What became of the turn of a chunk.
  enum class Start {
    kBegun,  // a check
    kEarly,  // the slot of its next row is still to come
    kNone,   // every row was started
  };
  Start StartNext(const ChunkPtr& chunk, std::chrono::nanoseconds now);
  void StartCheck(const ChunkPtr& chunk, RowRef ref);
  void Attempt(const std::shared_ptr<Check>& check);
  bool OnTurn(Check& check, std::chrono::milliseconds waited);
  void OnProbed(const std::shared_ptr<Check>& check, const ProbeResult& result);
  void NoteFailure(Check* noted, const ProbeFailure& failure) const;
  void Withdraw(const std::shared_ptr<Check>& check);
  void Finish(const std::shared_ptr<Check>& check, const ProbeResult& result);
  void CompareOnAThread(const std::shared_ptr<Check>& check, const ProbeResult& result);
  void Conclude(const std::shared_ptr<Check>& check, const ProbeResult& result,
                const Verdict& verdict);
  void CountDuration(Check& check);
  void Retry(const std::shared_ptr<Check>& check);

  base::EventLoop& loop_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const RoomLimits limits_;
  const std::map<domain::Tier, TierProbe> probes_;
  NotificationSink* const sink_;  // may be null
  CheckHoldings& holdings_;
  const std::chrono::milliseconds age_max_;
  const base::Logger log_;
  const Hooks hooks_;
  std::mt19937_64 random_;  // jitter only

  lease::StartTurns<ChunkPtr> startable_;  // with rows that are not started
  lease::Later<ChunkPtr> early_;           // their slot is still to come
  lease::Later<std::shared_ptr<Check>> retries_;
  bool pumping_ = false;
  base::ThreadPool comparing_;  // one job at most of each check that is in flight
  lease::Live live_;
};

}  // namespace vedette::worker
