#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/monitor/monitor.h"
#include "domain/monitor/row_values.h"
#include "store/monitors/control.h"
#include "store/page.h"
#include "store/scope.h"
#include "store/session.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// The rows of a monitor. Reading takes a monitor id that the caller has found in scope by
// GetMonitor.

// Rows behind `after_position` (-1: from the start), in the order they were added: at most `limit`,
// and none behind the one with which their JSON comes to `bytes_max`. Removed rows are passed over,
// so that a page may be short and still have more behind it.
Page<domain::Row> ListRows(Session& session, const base::Uuid& monitor_id, int after_position,
                           int limit, std::size_t bytes_max);

// With since when and why its checks fail, where they do.
// Reads since when checks of those rows fail that are failing, and what the last one said.
void ReadFailures(Session& session, const base::Uuid& monitor_id, std::vector<domain::Row>* rows);

std::optional<domain::Row> GetRow(Session& session, const base::Uuid& monitor_id,
                                  const base::Uuid& row_id);

// The row with this key (domain::RowValues::key_hash).
std::optional<base::Uuid> FindRowByKey(Session& session, const base::Uuid& monitor_id,
                                       const std::string& key_hash);

enum class RowChoice {
  kStale,    // the last completed check, or creation if there was none, is older than the frequency
  kFailing,  // the last check failed; with since when and why
};

// Which rows are looked at: those at (after_position, last_position].
struct RowRange {
  int after_position = -1;
  int last_position = 0;
};

// The active rows of the range that are chosen; bounded as ListRows.
Page<domain::Row> ListChosenRows(Session& session, const domain::Monitor& monitor, RowChoice choice,
                                 const RowRange& range, int limit, std::size_t bytes_max);

struct AddRowsOutcome {
  enum class Kind {
    kAdded,
    kNotFound,
    kConflict,      // the monitor is starting or failed
    kDuplicateKey,  // rows[duplicate_index] has the key of the row at duplicate_position
    kTooMany,       // over rows_per_monitor_max
    kChanged,       // the struct has another version
  };
  Kind kind = Kind::kAdded;
  domain::MonitorStatus status = domain::MonitorStatus::kActive;
  std::vector<base::Uuid> row_ids;
  std::size_t duplicate_index = 0;
  int duplicate_position = 0;
  std::int64_t row_count = 0;  // at kTooMany: what is there
};

// All or none. The rows take part from the next tick on. No two of `rows` have the same key.
// `struct_version`: of the struct by which they were split.
AddRowsOutcome AddRows(Session& session, const base::Clock& clock, const Scope& scope,
                       const base::Uuid& monitor_id, const std::vector<domain::RowValues>& rows,
                       int struct_version, std::int64_t rows_per_monitor_max,
                       const std::optional<AuditEntry>& audit = {});

// Switches a row on (the reason is cleared) or off. Conflict: the monitor is starting or failed.
ControlOutcome SwitchRow(Session& session, const base::Clock& clock, const Scope& scope,
                         const base::Uuid& monitor_id, const base::Uuid& row_id, bool is_active,
                         const std::optional<std::string>& disabled_reason,
                         const std::optional<AuditEntry>& audit = {});

// Removes a row for good: it is in no list, is not checked from the next tick on, and its key can
// be added again. Its events stay. Conflict as in SwitchRow.
ControlOutcome RemoveRow(Session& session, const base::Clock& clock, const Scope& scope,
                         const base::Uuid& monitor_id, const base::Uuid& row_id,
                         const std::optional<AuditEntry>& audit = {});

// Given the columns of a row as they would be, without its watched fields: throws where they may
// not be so.
using ColumnsCheck = std::function<void(const base::Json& columns)>;

// Sets columns of the row's context; a null removes one. `columns` is an object of scalars. A tick
// that has loaded the row goes on with what it was. Conflict as in SwitchRow. What `check` throws
// goes on to the caller, and nothing is changed.
ControlOutcome ChangeRowColumns(Session& session, const base::Clock& clock, const Scope& scope,
                                const base::Uuid& monitor_id, const base::Uuid& row_id,
                                const base::Json& columns, const ColumnsCheck& check,
                                const std::optional<AuditEntry>& audit = {});

// Internal to store/: rows inside the caller's transaction.

// Inserts rows [from, until) of `rows`, with these ids, at positions from first_position + from on,
// in batches that stay well under the statement timeout.
void InsertRows(Transaction& tx, const base::Uuid& monitor_id, const base::Uuid& org_id,
                const std::vector<domain::RowValues>& rows, const std::vector<base::Uuid>& ids,
                int first_position);

// `n` ids for new rows.
std::vector<base::Uuid> NewRowIds(const base::Clock& clock, std::size_t n);

// A row of the monitor that has one of these keys: the index among the hashes (bytes), and its
// position.
struct KnownRow {
  std::size_t index = 0;
  int position = 0;
};
std::optional<KnownRow> FindKnownRow(Transaction& tx, const base::Uuid& monitor_id,
                                     const std::vector<std::string>& key_hashes);

// The ids at positions [0, count).
std::vector<base::Uuid> ReadRowIds(Transaction& tx, const base::Uuid& monitor_id, int count);

// What a page was like at a check, without its contents.
struct Snapshot {
  base::Uuid id;  // of the check
  std::int64_t tick_id = 0;
  std::optional<base::Uuid> previous_id;  // of the row's snapshot before
  std::string url;
  bool is_rendered = false;
  int text_bytes = 0;  // of the whole text (domain::SeenPage)
  bool has_picture = false;
  base::Timestamp created_at;
};

// Those of a row that the caller found in scope, newest first; before `before_tick_id` where that
// is given.
std::vector<Snapshot> ListSnapshots(Session& session, const base::Uuid& row_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit);

// The content of a snapshot in scope, as it is stored (domain::SeenPage), or the picture of a check
// that failed; empty where there is none.
enum class SnapshotPart { kText, kPicture };
std::optional<std::string> ReadSnapshot(Session& session, const Scope& scope, const base::Uuid& id,
                                        SnapshotPart part);

// Those of a row go, with the picture of its last failure, and what nothing else has of what they
// had.
void ForgetSnapshots(Session& session, const base::Uuid& row_id);
// The same of these snapshots, with the pictures of the last failures of their rows.
void ForgetSnapshots(Session& session, const std::vector<base::Uuid>& ids);

}  // namespace vedette::store
