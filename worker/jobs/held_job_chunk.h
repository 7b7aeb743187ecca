#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job.h"
#include "domain/job_wait.h"
#include "store/jobs/claim.h"
#include "store/jobs/record.h"
#include "store/lease.h"
#include "worker/blocks/part_turn.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/block_runs.h"

// A leased job chunk inside a process: the rows of its part, what is known of each, and how far its
// work is. The states that it goes through are drawn at its enums. Loop thread only.
namespace vedette::worker {

struct JobRow {
  //   kWaiting --it starts--> kInFlight --it ends-------------------> kEnded
  //      |  ^                   |    \----it is to be tried later---> kLater
  //      |  +-- its chunk leaves before the row has ended --/
  //      +--its worker died at it--> kEnded
  enum class State {
    kWaiting,   // it is to be started
    kInFlight,  // from its first attempt to its last, waits between them included
    kLater,     // it waits for `not_before`, for which its chunk is put back
    kEnded,     // it has its output
  };

  State state = State::kWaiting;
  Cells cells;                   // of its input
  std::string memo;              // JSON; of its last RowLater, empty where there was none
  base::Timestamp not_before{};  // of its last RowLater, by the database's clock
  domain::JobWait why = domain::JobWait::kUntold;  // of its last RowLater
  std::shared_ptr<const Cells> output;  // where it has ended; shared with records under way
};

// What a record adds to the counters of its block.
struct RowCounts {
  int done = 0;
  int errors = 0;
  int charged = 0;
  std::int64_t charge_mc = 0;
  int later = 0;  // rows that are to be tried later, whose memos are to be stored
  // Rows that this process worked from start to end, without an error, and how long they took.
  int timed = 0;
  std::chrono::microseconds took{};

  bool any() const { return done > 0 || later > 0; }
};

// The rank of chunks that a client waits for, and of the others.
inline constexpr int kRankWaited = 0;
inline constexpr int kRankOther = 1;
inline constexpr int kRankCount = 2;

// What a process holds in one lane: of everybody, or of one organisation. JobHoldings counts it.
struct JobLoad {
  std::size_t chunks = 0;
  std::size_t rows_open = 0;  // of these chunks, without an end
  std::size_t in_flight = 0;
};
struct LaneLoad : JobLoad {
  JobLoad waited;  // of it, what clients wait for
};
struct JobOrgLoad : LaneLoad {
  std::size_t bytes = 0;  // of these chunks
};

struct HeldJobChunk {
  // What is still done with the chunk.
  //
  //   kWorking --a drain, a locked organisation--> kGivingBack --the drain is overdue--> kDeaf
  //      |                                              |                                  |
  //      +----------------------------------------------+-------JobHoldings::Remove--------+-->
  //      kLost
  enum class Phase {
    kWorking,     // its rows are started
    kGivingBack,  // no further row is started; it goes back when what is in flight has ended
    kDeaf,        // what is in flight is not waited for any more, and its results are ignored
    kLost,        // not held: recorded to its end, given back, or its lease is gone
  };

  // Whether a record of the chunk is under way. There is one at a time: kNone <--> kUnderWay.
  enum class Recording {
    kNone,
    kUnderWay,  // also while it waits for its next try
  };

  // How its rows are worked; fixed when the chunk is claimed.
  enum class Mode {
    kTogether,  // as many rows at once as there is room for
    kSerial,    // its workers died repeatedly: one row at a time, alone (SerialRows)
  };

  // Without its rows, which are in `rows`; of a whole part with them, until it begins to be made.
  store::ClaimedJobChunk claimed;
  BlockRunPtr run;
  JobOrgLoad* org = nullptr;  // valid while the chunk is held, or one of its rows is in flight
  std::vector<JobRow> rows;
  std::size_t next = 0;  // no row before this one waits
  // Rows that have not ended; JobHoldings counts them. A part that is made as a whole is one.
  std::size_t rows_open = 0;
  std::size_t in_flight = 0;              // rows in flight; JobHoldings counts them
  std::size_t output_bytes = 0;           // of the rows that have ended
  std::size_t bytes = 0;                  // of rows and params as they were loaded; JobHoldings
                                          // counts them
  std::chrono::nanoseconds known_held{};  // since boot: when the read began that found it held (G5)
  std::chrono::nanoseconds deadline{};    // since boot: the job's
  RowCounts unrecorded;                   // without those of the record that is under way
  // Who wants to hear that a row is recorded; without those of the record that is under way.
  std::vector<std::function<void()>> to_be_told;
  std::chrono::nanoseconds unrecorded_since{};  // since boot: the oldest of them
  std::shared_ptr<PartTurn> turn;               // of a whole part, once it is to be made
  std::shared_ptr<const PartOutput> made;       // likewise, once it is
  std::optional<RowError> error;                // of the last row that ended with one
  bool late = false;                            // a row had no time left, since its job had none
  std::optional<store::JobFault> fault;         // the job is to fail
  Phase phase = Phase::kWorking;
  Recording recording = Recording::kNone;
  Mode mode = Mode::kTogether;

  // Its rows, of which some may have ended. Once, before it is held.
  void SetRows(std::vector<JobRow> loaded);
  // In place of SetRows: its part is made as a whole.
  void SetWhole();

  // Follows one of the arrows that are drawn above; another one is an error of the program. A whole
  // part that is being made stops, as every phase but the first one wants no more of it.
  void Enter(Phase to);
  void Enter(Recording to);

  void StopPart() const {
    if (turn) turn->Stop();
  }

  bool Waited() const { return claimed.rank == kRankWaited; }
  bool IsWhole() const { return run->work != nullptr; }
  bool Working() const { return phase == Phase::kWorking; }
  bool Lost() const { return phase == Phase::kLost; }
  bool Leaving() const { return phase == Phase::kGivingBack || phase == Phase::kDeaf; }
  bool BeingRecorded() const { return recording != Recording::kNone; }
  // Nothing of it is awaited from a runner.
  bool Quiet() const { return in_flight == 0 || phase == Phase::kDeaf; }
  // Every row has ended.
  bool Finished() const { return rows_open == 0; }
  // A record can end the chunk: its part is finished, or its job fails.
  bool CanEnd() const { return Finished() || fault.has_value(); }
  // What has not ended is to be tried later. Never of a whole part.
  bool Resting() const;
  // The first time at which a row is to be tried that is to be tried later.
  base::Timestamp RestsUntil() const;
  // What clients are told that it waits for: one of its rows that are to be tried later does.
  domain::JobWait RestsFor() const;

  store::Lease lease() const { return claimed.lease; }
  const base::Uuid& id() const { return claimed.lease.id; }
  domain::Lane lane() const { return claimed.lane; }
  const store::JobSpec& job() const { return *run->job; }
};

using JobChunkPtr = std::shared_ptr<HeldJobChunk>;

// The chunk of a claim, without rows. Where its block cannot be run it has that fault.
JobChunkPtr MakeHeldJobChunk(store::ClaimedJobChunk claimed, BlockRunPtr run);

// What cells take in a part, in bytes.
std::size_t BytesOf(const Cells& cells);

}  // namespace vedette::worker
