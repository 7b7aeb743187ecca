#include <cstdint>
#include <numeric>

#include "base/crypto.h"
#include "domain/monitor/row_values.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cells.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::size_t kKeyBytes = 16;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "columns": {"type": "array", "maxItems": 64, "default": [],
      "items": {"type": "string", "minLength": 1, "maxLength": 200},
      "description": "The columns that make two rows the same; none: all of them."}
  }
})";

Columns Bind(const Json& specs, const Columns& input) {
  const DedupeKeys keys(specs, input);
  return input;
}

}  // namespace

DedupeKeys::DedupeKeys(const Json& specs, const Columns& input) {
  for (const std::string& name : NamesIn(specs.at("columns"))) {
    columns_.push_back(ColumnAt(input, name));
  }
  if (!columns_.empty()) return;
  columns_.resize(input.size());
  std::iota(columns_.begin(), columns_.end(), std::size_t{0});
}

std::optional<std::string> DedupeKeys::KeyOf(const base::CellTexts& row) const {
  std::string key;
  bool any = false;
  for (const std::size_t column : columns_) {
    const auto value = CellValue(base::ReadJsonCell(row.at(column)));
    any = any || value.has_value();
    AppendKeyPart(value, &key);
  }
  if (!any) return std::nullopt;
  return base::Sha256(key).substr(0, kKeyBytes);
}

const BlockType kDedupeBlock{
    .name = "dedupe",
    .description =
        "Keeps the first of the rows that have the same values in the key columns, and "
        "every row that has none there.",
    .specs_schema = kSchema,
    .category = BlockCategory::kTransform,
    .work = BlockWork::kDedupe,
    .drops_rows = true,
    .bind = Bind,
};

}  // namespace vedette::domain
