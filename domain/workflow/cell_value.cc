#include "domain/workflow/cell_value.h"

#include "base/json.h"
#include "domain/row_values.h"

namespace vedette::domain {

std::optional<std::string> CellValue(const base::Json& cell) {
  if (cell.is_structured()) return base::DumpJson(cell);
  return NormaliseValue(cell);
}

}  // namespace vedette::domain
