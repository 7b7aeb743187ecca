#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "store/jobs/keeper.h"
#include "store/session.h"

// What the rows of runs take of the disk, by organisation: counted as parts are written
// (job_block.bytes), kept when their run ends (run_data), and given back when they are dropped,
// with their day or, where nobody can read them any more, soon after the run was cancelled.
namespace vedette::store {

// A row of the database takes about this beside what is in it.
inline constexpr std::int64_t kPartBytesMore = 100;

// What a part with these rows counts for.
constexpr std::int64_t RunBytesOf(std::string_view rows_json) {
  return static_cast<std::int64_t>(rows_json.size()) + kPartBytesMore;
}

// Ends the runs that go on of organisations whose runs take `bytes_max` or more as failed,
// run_data_limit_reached; what they have made stays. At most kJobKeeperBatch.
JobKeeperRun EndRunsOverLimit(Session& session, const base::Clock& clock, std::int64_t bytes_max);

// Parts that a call of DropUnreadRows deletes.
inline constexpr int kUnreadPartsMax = 5000;

// Deletes of one cancelled run the rows of its source, in which nobody can see what came of them.
// Returns kUnreadPartsMax where there may be more to delete.
int DropUnreadRows(Session& session);

}  // namespace vedette::store
