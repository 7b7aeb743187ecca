#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor.h"
#include "domain/row_values.h"
#include "store/sql.h"

// Internal to store/: rows inside the caller's transaction.
namespace vedette::store {

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

}  // namespace vedette::store
