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
#include "domain/job/job.h"
#include "lease/held_work.h"
#include "lease/holdings.h"
#include "store/jobs/claim.h"
#include "store/jobs/record.h"
#include "worker/blocks/part_work.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/block_runs.h"

// A leased job chunk inside a process: the rows of its part, what is known of each, and how far its
// work is. The states that it goes through are drawn at its enums and at those
// of lease::HeldWork. Loop thread only.
namespace vedette::worker {

struct JobRow {
  //   kWaiting --it starts--> kInFlight --it ends-------------------> kEnded
  //      |  ^                   |    \----it is to be tried later---> kLater
  //      |  +-- its chunk leaves before the row has ended --/
  //      +--its worker died at it--> kEnded
  enum class State {
    kWaiting,   // it is to be started
    kInFlight,  // from its first attempt to its last, waits between them included
    kLater,     // it waits for `not_before`, for which its chunk is given back
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

struct HeldJobChunk : lease::HeldWork {
  using Lane = domain::Lane;
  static constexpr std::size_t kLaneCount = domain::kLaneCount;
  using OrgLoad = lease::OrgLoad;

  // How its rows are worked; fixed when the chunk is claimed.
  enum class Mode {
    kTogether,  // as many rows at once as there is room for
    kSerial,    // its workers died repeatedly: one row at a time, alone (SerialRows)
  };

  // Without its rows, which are in `rows`; of a whole part with them, until it begins to be made.
  store::ClaimedJobChunk claimed;
  BlockRunPtr run;
  OrgLoad* org = nullptr;  // valid while the chunk is held, or one of its rows is in flight
  // A part that is made as a whole has none, and counts as one row.
  std::vector<JobRow> rows;
  std::size_t next = 0;                 // no row before this one waits
  std::size_t output_bytes = 0;         // of the rows that have ended
  std::chrono::nanoseconds deadline{};  // since boot: of its rows, EndsRowsBefore its job's
  RowCounts unrecorded;                 // without those of the record that is under way
  // Callbacks that want to hear that a row is recorded; without those of the record that is under
  // way.
  std::vector<std::function<void()>> to_be_told;
  std::shared_ptr<PartTurn> turn;          // of a whole part, once it is to be made
  std::shared_ptr<const PartOutput> made;  // likewise, once it is
  std::optional<RowError> error;           // of the last row that ended with one
  bool late = false;                       // a row had no time left, since its job had none
  std::optional<store::JobFault> fault;    // the job is to fail
  Mode mode = Mode::kTogether;

  // Its rows, of which some may have ended. Once, before it is held.
  void SetRows(std::vector<JobRow> loaded);
  // In place of SetRows: its part is made as a whole.
  void SetWhole();

  Lane lane() const { return claimed.lane; }
  bool Waited() const { return claimed.rank == kRankWaited; }
  bool IsWhole() const { return run->work != nullptr; }
  bool HasUnrecorded() const { return unrecorded.any(); }
  // A record can end the chunk: its part is finished, or its job fails.
  bool CanEnd() const { return Finished() || fault.has_value(); }
  // What has not ended is to be tried later. Never of a whole part.
  bool Resting() const;
  // The first time at which a row is to be tried that is to be tried later.
  base::Timestamp RestsUntil() const;
  // What clients are told that it waits for: one of its rows that are to be tried later does.
  domain::JobWait RestsFor() const;

  const store::JobSpec& job() const { return *run->job; }

 private:
  // A whole part that is being made stops, as every phase but the first one wants no more of it.
  void Stop() const override {
    if (turn) turn->Stop();
  }
};

using JobChunkPtr = std::shared_ptr<HeldJobChunk>;
using JobHoldings = lease::Holdings<HeldJobChunk>;

// The chunk of a claim, without rows. Where its block cannot be run it has that fault.
JobChunkPtr MakeHeldJobChunk(store::ClaimedJobChunk claimed, BlockRunPtr run);

// How long before the deadline of its job a row ends: what was found by then is recorded before the
// job ends without it.
inline constexpr std::chrono::milliseconds kRowsEndBefore{500};
// The same of this job, of whose time it is at most a tenth.
std::chrono::nanoseconds EndsRowsBefore(const store::JobSpec& job);

// What cells take in a part, in bytes.
std::size_t BytesOf(const Cells& cells);

}  // namespace vedette::worker
