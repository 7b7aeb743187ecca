#include "domain/workflow/part_rows.h"

#include <fmt/format.h>

#include <utility>

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

void AppendRowObject(const Columns& columns, const Cells& row, std::string* out) {
  out->push_back('{');
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out->push_back(',');
    *out += base::DumpJson(columns[i]);
    out->push_back(':');
    *out += i < row.size() ? base::DumpJson(row[i]) : "null";
  }
  out->push_back('}');
}

void RowsWriter::Add(const Cells& row) {
  part_.rows_json += part_.row_count == 0 ? '[' : ',';
  part_.rows_json += '[';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) part_.rows_json += ',';
    part_.rows_json += base::DumpJson(row[i]);
    if (part_.rows_json.size() <= bytes_max_) continue;
    throw PartTooLarge(fmt::format("the rows of a part would take more than {} bytes", bytes_max_));
  }
  part_.rows_json += ']';
  ++part_.row_count;
}

RowsPart RowsWriter::Take() {
  if (part_.row_count == 0) part_.rows_json = "[";
  part_.rows_json += ']';
  return std::exchange(part_, {});
}

RowsPart ApplyToRows(const RowFunction& function, std::vector<Cells> rows, std::size_t bytes_max) {
  RowsWriter out(bytes_max);
  for (Cells& row : rows) {
    if (const auto made = function.Apply(std::move(row))) out.Add(*made);
  }
  return out.Take();
}

}  // namespace vedette::domain
