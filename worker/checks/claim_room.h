#pragma once

#include <cstddef>
#include <vector>

#include "base/uuid.h"
#include "config/config_fwd.h"
#include "lease/share_out.h"
#include "store/checks/chunks.h"
#include "worker/checks/held_chunk.h"

// How much a process may claim, by what it holds. Pure but for ClaimAhead, which remembers a
// number.
namespace vedette::worker {

// What bounds the holdings of a process.
struct RoomLimits {
  std::size_t slots_max = 0;       // checks that may be under way
  std::size_t chunk_rows_max = 0;  // rows of one chunk
  std::size_t bytes_max = 0;       // of the rows that are held
  std::size_t row_bytes_max = 1;   // of one row, as it may be given; at least 1
  double newcomer_share = 0;
};
RoomLimits RoomLimitsOf(const config::Config& config);

// How many rows are claimed beyond those that can be in flight. It follows from what claims find: a
// worker that ran out of rows while it claimed wants more the next time, and one whose rows waited
// wants fewer, so that slow checks are left to workers that can start them at once.
class ClaimAhead {
 public:
  // 0 <= rows <= rows_max at all times.
  explicit ClaimAhead(std::size_t rows_max);

  std::size_t rows() const { return rows_; }
  // A claim brought rows, and those that were held before it had all been started.
  void RanOut();
  // A claim brought rows while as many as `rows_waiting` could not be started.
  void FoundWaiting(std::size_t rows_waiting);

 private:
  const std::size_t rows_max_;
  std::size_t rows_;
};

// Checks that may be started now.
std::size_t FreeSlots(const RoomLimits& limits, const CheckHoldings& holdings);

// The room that a claim may share out, with `rows_ahead` claimed beyond the slots. With nothing
// held there is room for at least one row, if row_bytes_max <= bytes_max.
//
// A row that is not loaded yet counts as `row_bytes_max`, so that what clients gave of the rows of
// a claim stays within `bytes_max`, but for two chunks: the one that reaches the limit, and one
// that goes into free slots although the limit is reached (lease/share_out.h). What checks have
// seen of a row is counted once it is loaded.
lease::Room RoomOf(const RoomLimits& limits, const CheckHoldings& holdings, std::size_t rows_ahead);

// The organisations that have work due, with what is held of each. In the order of `due`.
std::vector<lease::Asking> AskingOf(const std::vector<store::DueOrg>& due,
                                    const CheckHoldings& holdings);

}  // namespace vedette::worker
