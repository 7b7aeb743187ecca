#include "domain/workflow/added_columns.h"

#include <algorithm>

#include "base/text.h"
#include "domain/row_values.h"
#include "domain/workflow/cell_value.h"

namespace vedette::domain {

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

}  // namespace vedette::domain
