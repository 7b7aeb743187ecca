#pragma once

#include <chrono>

#include "store/jobs/keeper.h"
#include "store/session.h"

// Parts that become larger while their run goes on. A run is cut into parts before it is known how
// long its rows take, by a guess and by the runs before it (0029): where they turn out to be quick,
// a part is soon done, and what is done for each part is most of the work.
//
//   parts of the source:   | done | begun | of nobody yet .......................|
//   after it:              | done | begun |  each several of these as one  |
//
// Every block makes its part k of part k of its input, so that the parts of all blocks change with
// those of the source. What has begun stays as it is, row ids and all.
namespace vedette::store {

struct GrowRules {
  std::chrono::milliseconds part_target{};  // [worker] chunk_duration_target_ms
  int window_rows = 0;                      // [workflows] window_rows
};

// A part that grew has at most so many bytes.
inline constexpr int kGrownPartBytesMax = 512 * 1024;
// Parts of a run that are left at least, for it to be worth while.
inline constexpr int kGrowPartsLeftMin = 64;
// Runs of one call.
inline constexpr int kGrowBatch = 20;

// Makes the parts of runs larger, at least twice, where what was measured says that they were cut
// too small. Their source is whole by then. Waits for records of these runs, as a cancel does. What
// is to be raised is in the result.
JobKeeperRun GrowParts(Session& session, const GrowRules& rules);

}  // namespace vedette::store
