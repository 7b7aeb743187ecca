#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/monitor/timetable.h"
#include "domain/text/limits.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cells.h"

// Makes a monitor of the rows that come to it. It starts checking once the last of them is there.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["name", "key_columns", "struct"],
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 200},
    "key_columns": {"type": "array", "minItems": 1, "maxItems": 64, "uniqueItems": true,
      "items": {"type": "string", "minLength": 1, "maxLength": 200},
      "description": "The columns that name a row's subject; no two rows have the same values in them."},
    "struct": {"type": "object", "minProperties": 1, "maxProperties": 64,
      "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 10000},
      "description": "Field name, of at most 200 characters, to a description of what to watch."},
    "frequency": {"type": "string", "minLength": 1, "maxLength": 20, "default": "1d",
      "description": "A number and a unit: m, h, d or w. 1h to 30d; 5m where the organisation may."},
    "tier": {"type": "string", "enum": ["micro", "low", "medium", "high"], "default": "low"},
    "research_plan": {"type": ["string", "null"], "maxLength": 20000, "default": null},
    "metadata": {"type": ["object", "null"], "default": null,
      "description": "Goes along with every notification."},
    "webhook_url": {"type": ["string", "null"], "minLength": 1, "maxLength": 2083, "default": null,
      "description": "A public http or https address."},
    "webhook_event_types": {"type": ["array", "null"], "maxItems": 3, "default": null,
      "items": {"type": "string", "enum": ["monitor.field.changed", "monitor.execution.completed",
        "monitor.execution.failed"]},
      "description": "All three where this is left out."},
    "confirm_after": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1},
    "missing_confirmations": {"type": "integer", "minimum": 1, "maximum": 100, "default": 2}
  }
})";

constexpr std::size_t kMetadataBytesMax = 16 * 1024;
constexpr const char* kIdColumn = "monitor_row_id";
constexpr const char* kErrorColumn = "monitor_error";

Columns Bind(const Json& specs, const Columns& input) {
  return MonitorRows(specs, input).output();
}

std::optional<SpecFault> ValidateFrequency(const std::string& text) {
  const auto period = ParseDuration(text, false);
  const bool fits = period && ((*period >= kFrequencyMin && *period <= kFrequencyMax) ||
                               *period == kFrequencyTesting);
  if (fits) return std::nullopt;
  return SpecFault{Json::array({"frequency"}), "invalid_frequency",
                   "A frequency is a number and a unit, such as 1h or 30d: 1h to 30d, or 5m"};
}

// Rules 1 and 5 of the interface's monitors, and the limits that a schema cannot say.
std::optional<SpecFault> Validate(const Json& specs) {
  if (auto fault = ValidateFrequency(specs.at("frequency").get_ref<const std::string&>())) {
    return fault;
  }
  const Json& keys = specs.at("key_columns");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& name = keys[i].get_ref<const std::string&>();
    const Json at = Json::array({"key_columns", i});
    if (specs.at("struct").contains(name)) {
      return SpecFault{at, "column_conflict", "The column is a key column and a watched field"};
    }
  }
  if (auto fault = ValidateFields(specs.at("struct"))) return fault;
  if (base::DumpJson(specs.at("metadata")).size() > kMetadataBytesMax) {
    return SpecFault{Json::array({"metadata"}), "too_long",
                     fmt::format("Object should have at most {} bytes as JSON", kMetadataBytesMax)};
  }
  return std::nullopt;
}

std::optional<std::string> TextIn(const Json& specs, const char* member) {
  const Json& value = specs.at(member);
  if (value.is_null()) return std::nullopt;
  return value.is_string() ? value.get<std::string>() : base::DumpJson(value);
}

std::vector<NotificationType> EventTypesIn(const Json& specs) {
  const Json& given = specs.at("webhook_event_types");
  if (given.is_null()) {
    return {NotificationType::kChanged, NotificationType::kCompleted, NotificationType::kFailed};
  }
  std::vector<NotificationType> types;
  for (const Json& name : given) {
    const auto type = ParseNotificationType(name.get_ref<const std::string&>());
    if (type && std::find(types.begin(), types.end(), *type) == types.end()) types.push_back(*type);
  }
  return types;
}

}  // namespace

MonitorOrder ReadMonitorOrder(const Json& specs) {
  MonitorOrder order;
  order.name = specs.at("name").get<std::string>();
  order.key_columns = NamesIn(specs.at("key_columns"));
  order.struct_json = base::DumpJson(specs.at("struct"));
  order.frequency_text = specs.at("frequency").get<std::string>();
  order.frequency = ParseDuration(order.frequency_text, false).value();
  order.tier = ParseTier(specs.at("tier").get_ref<const std::string&>()).value_or(Tier::kLow);
  order.research_plan = TextIn(specs, "research_plan");
  order.metadata_json = TextIn(specs, "metadata");
  order.webhook_event_types = EventTypesIn(specs);
  order.confirm_after = specs.at("confirm_after").get<int>();
  order.missing_confirmations = specs.at("missing_confirmations").get<int>();
  return order;
}

MonitorRows::MonitorRows(const Json& specs, const Columns& input)
    : input_(input), output_(WithColumns(input, {kIdColumn})) {
  for (const std::string& name : NamesIn(specs.at("key_columns"))) {
    ColumnAt(input, name);
    roles_.key_columns.push_back(name);
  }
  for (const auto& [name, description] : specs.at("struct").items()) roles_.watched.insert(name);
  id_at_ = ColumnAt(output_, kIdColumn);
  // An error is never written over another one: the name gets a number.
  std::string error = kErrorColumn;
  for (int n = 2; std::find(output_.begin(), output_.end(), error) != output_.end(); ++n) {
    error = fmt::format("{}_{}", kErrorColumn, n);
  }
  error_at_ = output_.size();
  output_.push_back(std::move(error));
}

RowValues MonitorRows::ValuesOf(const Cells& row) const {
  Json columns = Json::object();
  for (std::size_t i = 0; i < input_.size() && i < row.size(); ++i) {
    const auto value = CellValue(row[i]);
    if (!value) continue;
    columns[input_[i]] = row[i].is_structured() ? Json(*value) : row[i];
  }
  return SplitRow(columns, roles_);
}

Cells MonitorRows::Widened(Cells row) const {
  row.resize(output_.size());
  row[id_at_] = nullptr;
  return row;
}

Cells MonitorRows::Added(Cells row, const std::string& row_id) const {
  Cells cells = Widened(std::move(row));
  cells[id_at_] = row_id;
  return cells;
}

Cells MonitorRows::NotAdded(Cells row, const std::string& error) const {
  Cells cells = Widened(std::move(row));
  cells[error_at_] = error;
  return cells;
}

const BlockType kMonitorBlock{
    .name = kMonitorBlockName,
    .description =
        "Makes a monitor of its rows, which is checked as its frequency says once the last of "
        "them is there.",
    .specs_schema = kSchema,
    .category = BlockCategory::kOutput,
    .work = BlockWork::kMonitor,
    .bind = Bind,
    .validate = Validate,
    .url_member = "webhook_url",
};

}  // namespace vedette::domain
