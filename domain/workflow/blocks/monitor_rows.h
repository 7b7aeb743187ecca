#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "domain/monitor/enums.h"
#include "domain/monitor/row_values.h"
#include "domain/workflow/block_type.h"

// What the block `monitor` makes of the rows of a run: a monitor, and its rows. Pure.
namespace vedette::domain {

// The monitor as the specs of the block say it. Members ending in _json are JSON text.
struct MonitorOrder {
  std::string name;
  std::vector<std::string> key_columns;
  std::string struct_json;
  std::string frequency_text;
  std::chrono::seconds frequency{0};
  Tier tier = Tier::kLow;
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::vector<NotificationType> webhook_event_types;
  int confirm_after = 1;
  int missing_confirmations = 2;
};
// `specs` are whole.
MonitorOrder ReadMonitorOrder(const base::Json& specs);

// How a row of the run becomes a row of the monitor, and what the block says of it. Immutable.
class MonitorRows {
 public:
  // `specs` are whole. Throws BindError for an unknown key column.
  MonitorRows(const base::Json& specs, const Columns& input);

  // The columns of the block's output: those of its input, monitor_row_id and an error.
  const Columns& output() const { return output_; }

  // A cell without a value is left out; an object or an array goes along as its JSON text.
  RowValues ValuesOf(const Cells& row) const;
  // The row with the id of the monitor's row, or with why it was not added.
  Cells Added(Cells row, const std::string& row_id) const;
  Cells NotAdded(Cells row, const std::string& error) const;

 private:
  Cells Widened(Cells row) const;

  Columns input_;
  Columns output_;
  ColumnRoles roles_;
  std::size_t id_at_ = 0;     // of the output
  std::size_t error_at_ = 0;  // likewise
};

}  // namespace vedette::domain
