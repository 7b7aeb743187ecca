#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string_view>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/job/job.h"
#include "domain/monitor/failure.h"
#include "lease/later.h"
#include "lease/live.h"
#include "lease/start_turns.h"
#include "metrics/metrics.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_room.h"

namespace vedette::worker {

// The shortest and the longest wait of a row that is to be tried later.
inline constexpr std::chrono::seconds kLaterMin{1};
inline constexpr std::chrono::hours kLaterMax{1};
// A row may be put off only where its job has this long to go: the ten minutes for which mail
// servers commonly put a sender off, and some time to use the answer.
inline constexpr std::chrono::minutes kLaterNeeds{15};

// The code of a row that asks to be tried later although it was told that there is no time for it.
inline constexpr std::string_view kRowLateCode = "tried_too_late";
// The code of a row whose output is larger than a row or its part may be.
inline constexpr std::string_view kRowTooLargeCode = "row_too_large";

// Starts the rows of held parts, in each lane in turns: rows that a client waits for before others,
// organisations in turn and each up to its share of the slots (G10), inside an organisation its
// jobs in turn. Tries a row again within its time. Starts nothing for a chunk that is not known to
// be held as of a moment ago (G5).
//
// Needs no database: what it has found out, or wants, it tells by its hooks. A hook may call back
// into the pump. Loop thread only; everything handed in must outlive this object.
class RowPump {
 public:
  struct Hooks {
    // The row has ended; it is in flight no more.
    std::function<void(const JobChunkPtr&, std::size_t row, RowDone)> ended;
    // The row is to be tried later; it is in flight no more.
    std::function<void(const JobChunkPtr&, std::size_t row, RowLater)> later;
    // A row is in flight no more and has no result, because its chunk is not worked on any more.
    std::function<void(const JobChunkPtr&)> dropped;
    // A row would start, but what is known of its chunk is too old: look, then call Pump.
    std::function<void()> stale;
  };

  RowPump(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
          const config::Config& config, JobHoldings& holdings, Hooks hooks);

  // The chunk's rows that wait are to be started in turn. The chunk is held.
  void Enqueue(const JobChunkPtr& chunk);

  // Starts rows while there is room.
  void Pump();

  // Starts one row that waits at once, whatever else is under way.
  void StartRow(const JobChunkPtr& chunk, std::size_t row);

  // Drops what waits of chunks that are not worked on any more: rows that are not started, and rows
  // between two attempts.
  void DropWaiting();

 private:
  struct Run;
  using Turns = lease::StartTurns<JobChunkPtr>;

  void PumpLane(domain::Lane lane);
  bool StartNext(Turns& turns, domain::Lane lane, int rank);
  bool Fresh(const HeldJobChunk& chunk) const;
  void Attempt(const std::shared_ptr<Run>& run);
  bool MayWait(const HeldJobChunk& chunk) const;
  // Whether a row in flight may make a further call.
  bool MayCall(const HeldJobChunk& chunk) const;
  void OnResult(const std::shared_ptr<Run>& run, RowResult result);
  void OnFailure(const std::shared_ptr<Run>& run, const domain::Failure& failure);
  void OnLater(const std::shared_ptr<Run>& run, RowLater later);
  void End(const std::shared_ptr<Run>& run, RowDone done);
  void EndWith(const std::shared_ptr<Run>& run, RowError error);
  void Leave(const std::shared_ptr<Run>& run);
  void Withdraw(const std::shared_ptr<Run>& run);
  void Retry(const std::shared_ptr<Run>& run);

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  JobHoldings& holdings_;
  const Hooks hooks_;
  std::mt19937_64 random_;  // jitter only

  // Chunks with rows that wait, by lane and rank.
  std::array<std::array<Turns, kRankCount>, domain::kLaneCount> turns_;
  lease::Later<std::shared_ptr<Run>> retries_;
  bool pumping_ = false;
  lease::Live live_;
};

}  // namespace vedette::worker
