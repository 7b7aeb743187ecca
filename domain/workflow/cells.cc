#include "domain/workflow/cells.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/row_values.h"

namespace vedette::domain {

std::optional<std::string> CellValue(const base::Json& cell) {
  if (cell.is_structured()) return base::DumpJson(cell);
  return NormaliseValue(cell);
}

std::size_t PlaceOf(const std::string& name, Columns* columns) {
  const auto at = std::find(columns->begin(), columns->end(), name);
  if (at != columns->end()) return static_cast<std::size_t>(at - columns->begin());
  columns->push_back(name);
  return columns->size() - 1;
}

std::size_t PlaceOfError(const std::string& name, Columns* columns) {
  std::string free = name;
  for (int n = 2; std::find(columns->begin(), columns->end(), free) != columns->end(); ++n) {
    free = name + "_" + std::to_string(n);
  }
  columns->push_back(free);
  return columns->size() - 1;
}

TextCells Widened(const TextCells& row, std::size_t width) {
  TextCells cells = row;
  cells.resize(width, std::string(kNullCell));
  return cells;
}

bool HasValue(const std::string& cell) {
  if (cell == kNullCell) return false;
  // A string without escapes, which most cells are.
  const bool plain = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"' &&
                     cell.find('\\') == std::string::npos;
  if (plain) return !IsBlank(std::string_view(cell).substr(1, cell.size() - 2));
  return CellValue(base::ReadJsonCell(cell)).has_value();
}

base::Json Storable(const base::Json& value) {
  if (!value.is_string()) return value;
  return base::RepairUtf8(value.get_ref<const std::string&>());
}

namespace {

using base::Json;

}  // namespace

std::vector<Cells> ReadRows(std::string_view rows_json, std::size_t width) {
  base::JsonLimits limits;
  limits.keep_numbers = true;
  Json parsed;
  if (const auto error = base::ParseJson(rows_json, &parsed, limits)) {
    throw std::invalid_argument(error->message);
  }
  if (!parsed.is_array()) throw std::invalid_argument("a part is an array");
  std::vector<Cells> rows;
  rows.reserve(parsed.size());
  for (Json& row : parsed) {
    if (!row.is_array()) continue;
    Cells cells(std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
    cells.resize(width);
    rows.push_back(std::move(cells));
  }
  return rows;
}

void AppendRowObject(const Columns& columns, const base::CellTexts& row, std::string* out) {
  for (std::size_t i = 0; i < columns.size(); ++i) AppendRowMember(columns, row, i, out);
  out->append(columns.empty() ? "{}" : "}");
}

void AppendRowMember(const Columns& columns, const base::CellTexts& row, std::size_t at,
                     std::string* out) {
  out->push_back(at == 0 ? '{' : ',');
  base::AppendJsonString(columns[at], out);
  out->push_back(':');
  out->append(at < row.size() ? row[at] : kNullCell);
}

void ForEachRow(std::string_view rows_json, std::size_t width,
                const std::function<void(const base::CellTexts& row)>& row) {
  base::ForEachRow(rows_json, [&](base::CellTexts& cells) {
    cells.resize(width, kNullCell);
    row(cells);
  });
}

// `append` appends the cell of a place.
template <typename F>
void RowsWriter::AddRow(std::size_t width, F&& append) {
  part_.rows_json += part_.row_count == 0 ? "[[" : ",[";
  for (std::size_t i = 0; i < width; ++i) {
    if (i > 0) part_.rows_json += ',';
    append(i);
    if (part_.rows_json.size() <= bytes_max_) continue;
    throw PartTooLarge(fmt::format("the rows of a part would take more than {} bytes", bytes_max_));
  }
  part_.rows_json += ']';
  ++part_.row_count;
}

void RowsWriter::Add(const Cells& row) {
  AddRow(row.size(), [&](std::size_t i) { base::AppendJson(row[i], &part_.rows_json); });
}

void RowsWriter::Add(const base::CellTexts& row) {
  AddRow(row.size(), [&](std::size_t i) { part_.rows_json += row[i]; });
}

void RowsWriter::AddFields(const std::vector<std::string>& fields) {
  AddRow(fields.size(), [&](std::size_t i) {
    if (IsBlank(fields[i])) {
      part_.rows_json += kNullCell;
    } else {
      base::AppendJsonString(fields[i], &part_.rows_json);
    }
  });
}

RowsPart RowsWriter::Take() {
  if (part_.row_count == 0) part_.rows_json = "[";
  part_.rows_json += ']';
  return std::exchange(part_, {});
}

}  // namespace vedette::domain
