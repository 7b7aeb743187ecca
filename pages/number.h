#pragma once

#include <optional>
#include <string_view>

#include "base/json_text.h"

namespace vedette::pages {

// What stands before the decimals of a number.
enum class DecimalMark {
  kUnknown,
  kPoint,  // 1,299.50
  kComma,  // 1.299,50
};

// The mark of people who read this language ("de", "de-CH"); unknown for one that is not known.
DecimalMark MarkOfLanguage(std::string_view language);

// The first number in a text, for `| number`: an integer where it has no decimals and a double
// holds it, else a double. Signs (also U+2212), and thousands set apart by spaces, apostrophes,
// commas or points are understood: of two separators the last is the decimal one; a separator that
// occurs twice sets thousands apart. One separator before exactly three last digits, as in "1.299",
// is told by `mark`, else by a currency whose users agree ($, £ and the like: a point; €, zł, kr
// and the like: a comma). Empty where neither tells; where there is no number; and where what looks
// like one is none: "1.2.3", "v2.1", "1.2M", "3,5 Mio.". Takes folded UTF-8. Pure.
std::optional<base::Json> FirstNumber(std::string_view text,
                                      DecimalMark mark = DecimalMark::kUnknown);

}  // namespace vedette::pages
