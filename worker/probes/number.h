#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"

namespace vedette::worker {

// The first number in a text, for `| number`: an integer where it has no decimals and a double
// holds it, else a double. Signs (also U+2212), and thousands set apart by spaces, apostrophes,
// commas or points are understood: of two separators the last is the decimal one; a separator that
// occurs twice sets thousands apart; a comma before exactly three last digits does too, a point
// there does not. Takes folded UTF-8. Empty where there is no number. Pure.
std::optional<base::Json> FirstNumber(std::string_view text);

}  // namespace vedette::worker
