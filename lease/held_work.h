#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "base/uuid.h"
#include "store/lease.h"

// Leased work inside a process, of whatever kind: a chunk, whose rows are started one by one, and
// which is recorded and given back as a unit. Loop thread only.
namespace vedette::lease {

// What is held: by a process in one lane, or of one organisation in it. Holdings counts it.
struct Load {
  std::size_t chunks = 0;
  std::size_t rows = 0;       // of these chunks
  std::size_t rows_open = 0;  // of these, without an end
  std::size_t bytes = 0;
  std::size_t in_flight = 0;
};
struct LaneLoad : Load {
  Load waited;  // of it, what clients wait for
};

struct HeldWork;
// The OrgLoad of a kind that counts nothing else.
struct OrgLoad : LaneLoad {
  void Hold(const HeldWork& /*work*/) {}
  void Drop(const HeldWork& /*work*/) {}
};

// The base of each kind's held chunk.
struct HeldWork {
  // A kind without lanes has one, and nobody waits for a chunk of it; others hide these four.
  enum class Lane { kOnly };
  static constexpr std::size_t kLaneCount = 1;
  static Lane lane() { return Lane::kOnly; }
  static bool Waited() { return false; }

  // What is still done with the chunk.
  //
  //   kWorking --a drain, a locked organisation--> kGivingBack --the drain is overdue--> kAbandoned
  //      |                                              |                                  |
  //      +----------------------------------------------+----------------------------------+
  //                                                            Holdings::Remove --> kLost
  enum class Phase {
    kWorking,     // its rows are started
    kGivingBack,  // no further row is started; it goes back when what is in flight has ended
    kAbandoned,   // what is in flight is not waited for any more, and its results are ignored
    kLost,        // not held: recorded to its end, given back, split, or its lease is gone
  };

  // Whether a record of the chunk is under way. There is one at a time: kNone <--> kUnderWay.
  enum class Recording {
    kNone,
    kUnderWay,  // also while it waits for its next try
  };

  store::Lease lease;
  base::Uuid org_id;
  std::size_t row_count = 0;
  std::size_t bytes = 0;                        // of its rows, as they were loaded
  std::size_t rows_open = 0;                    // rows without an end; Holdings counts them
  std::size_t in_flight = 0;                    // rows under way; Holdings counts them
  std::chrono::nanoseconds unrecorded_since{};  // since boot: the oldest result without a record
  // Since boot: when the last read began that found that the chunk may be worked on (G5).
  std::chrono::nanoseconds known_since{};
  Phase phase = Phase::kWorking;
  Recording recording = Recording::kNone;

  HeldWork() = default;
  virtual ~HeldWork() = default;
  HeldWork(const HeldWork&) = delete;
  HeldWork& operator=(const HeldWork&) = delete;

  // Follows one of the arrows that are drawn above; another one is an error of the program.
  void Enter(Phase next);
  void Enter(Recording next);

  const base::Uuid& id() const { return lease.id; }
  bool Working() const { return phase == Phase::kWorking; }
  bool Lost() const { return phase == Phase::kLost; }
  // It is to be given back.
  bool Leaving() const { return phase == Phase::kGivingBack || phase == Phase::kAbandoned; }
  // The result of a row that is in flight is recorded.
  bool WantsResults() const { return phase == Phase::kWorking || phase == Phase::kGivingBack; }
  bool BeingRecorded() const { return recording != Recording::kNone; }
  // Nothing of it is in flight that is waited for.
  bool Quiet() const { return in_flight == 0 || phase == Phase::kAbandoned; }
  // Every row has its end, and none is in flight.
  bool Finished() const { return rows_open == 0 && in_flight == 0; }
  // Whether it was known less than `age_max` ago that the chunk may be worked on.
  bool Fresh(std::chrono::nanoseconds now, std::chrono::nanoseconds age_max) const {
    return now - known_since < age_max;
  }

 private:
  template <typename Work>
  friend class Holdings;

  // The chunk has left kWorking: what computes it on another thread is to stop.
  virtual void Stop() const {}

  std::span<Load* const> loads() const { return {loads_.data(), load_count_}; }

  // What it is counted in. Valid while it is held, or one of its rows is in flight.
  std::array<Load*, 4> loads_{};
  std::size_t load_count_ = 0;
};

}  // namespace vedette::lease
