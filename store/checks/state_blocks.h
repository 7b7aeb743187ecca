#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "store/sql.h"

// Internal to store/: what is known of rows, which stands by blocks of domain::kBlockRows rows of a
// monitor (table state_block), in the caller's transaction.
namespace vedette::store {

// What is known of a row.
struct RowState {
  std::uint8_t outcome = domain::kNoOutcome;   // of its last check
  std::int64_t last_tick_id = 0;               // of that check; 0 = none was made
  std::optional<base::Timestamp> last_run_at;  // until when its last completed check looked
  bool operator==(const RowState&) const = default;
};

// The columns of a block. Rows that have last_tick_id and last_run_at in common are a group; where
// all are one, the block says it itself, and has no groups.
struct StateBlock {
  std::string outcomes;                        // one byte a row, in the order of their positions
  std::int64_t tick_id = 0;                    // the newest of any row
  std::optional<base::Timestamp> last_run_at;  // without groups
  std::optional<std::string> groups;           // of each row one byte: its group, from 0
  std::vector<std::int64_t> group_ticks;
  std::vector<std::int64_t> group_runs;  // microseconds since the epoch; 0 = never
};

// At most domain::kBlockRows states, in the order of positions.
StateBlock PackStates(const std::vector<RowState>& states);
// Throws std::logic_error where the block is not whole.
std::vector<RowState> UnpackStates(const StateBlock& block);

// Reads :state_block_columns.
std::vector<RowState> ReadStates(Columns& in);

// Rows `first` to `end` of the monitor join it; they have not been checked. `first` is how many it
// has. The caller holds the lock under which rows are added.
void AddStates(Transaction& tx, const base::Uuid& monitor_id, int first, int end);

// Outcomes of checks of consecutive positions, as in OutcomeRange (store/checks/record.h).
struct NewOutcomes {
  base::Uuid monitor_id;
  std::int64_t tick_id = 0;
  int first = 0;
  std::string_view outcomes;  // of the caller's
  base::Timestamp looked_until{};
  bool all_rows = false;  // the monitor has no others
};

// Blocks of which every row was checked and completed are written without being read (kInPlace),
// the others merged with what is known. kMerged: all are; for when a block turned out to have more
// rows, or a newer check.
enum class StateWriting { kInPlace, kMerged };

// The row fence of G1: each row that has an outcome is recorded at most once a tick. False where
// some block is not as kInPlace expects it: the transaction is to be given up, and begun again with
// kMerged. Throws std::logic_error where a row is recorded already.
bool WriteStates(Transaction& tx, const std::vector<NewOutcomes>& checks, StateWriting writing);

}  // namespace vedette::store
