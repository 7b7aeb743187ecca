#include "domain/workflow/part_rows.h"

#include <fmt/format.h>

#include <utility>

#include "domain/row_values.h"
#include "domain/workflow/added_columns.h"

namespace vedette::domain {
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
