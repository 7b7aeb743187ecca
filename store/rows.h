#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor.h"
#include "domain/row_values.h"
#include "store/control.h"
#include "store/page.h"
#include "store/session.h"

// The rows of a monitor. Reading takes a monitor id that the caller has found in scope by
// GetMonitor.
namespace vedette::store {

// Rows behind `after_position` (-1: from the start), in the order they were added: at most `limit`,
// and none behind the one with which their JSON comes to `bytes_max`.
Page<domain::Row> ListRows(Session& session, const base::Uuid& monitor_id, int after_position,
                           int limit, std::size_t bytes_max);

std::optional<domain::Row> GetRow(Session& session, const base::Uuid& monitor_id,
                                  const base::Uuid& row_id);

// Of the rows at (after_position, last_position] the active ones whose last completed check, or
// creation if there was none, is older than `frequency`; bounded as ListRows.
Page<domain::Row> ListStaleRows(Session& session, const base::Uuid& monitor_id,
                                std::chrono::seconds frequency, int after_position,
                                int last_position, int limit, std::size_t bytes_max);

struct AddRowsOutcome {
  enum class Kind {
    kAdded,
    kNotFound,
    kConflict,      // the monitor is starting or failed
    kDuplicateKey,  // rows[duplicate_index] has the key of the row at duplicate_position
    kTooMany,       // over rows_per_monitor_max
  };
  Kind kind = Kind::kAdded;
  domain::MonitorStatus status = domain::MonitorStatus::kActive;
  std::vector<base::Uuid> row_ids;
  std::size_t duplicate_index = 0;
  int duplicate_position = 0;
  std::int64_t row_count = 0;  // at kTooMany: what is there
};

// All or none. The rows take part from the next tick on. No two of `rows` have the same key.
AddRowsOutcome AddRows(Session& session, const base::Clock& clock, const MonitorScope& scope,
                       const base::Uuid& monitor_id, const std::vector<domain::RowValues>& rows,
                       std::int64_t rows_per_monitor_max);

// Switches a row on (the reason is cleared) or off. Conflict: the monitor is starting or failed.
ControlOutcome SwitchRow(Session& session, const MonitorScope& scope, const base::Uuid& monitor_id,
                         const base::Uuid& row_id, bool is_active,
                         const std::optional<std::string>& disabled_reason);

}  // namespace vedette::store
