#pragma once

#include <optional>
#include <string>

#include "base/json_text.h"

namespace vedette::domain {

// A cell as blocks compare it: a scalar as monitors compare it (domain/row_values.h), an object or
// an array as its JSON text; nothing where it is null or blank. Pure.
std::optional<std::string> CellValue(const base::Json& cell);

}  // namespace vedette::domain
