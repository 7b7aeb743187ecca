#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <re2/re2.h>

#include "base/json_text.h"
#include "domain/monitor/field_description.h"
#include "html/json_path.h"

namespace vedette::html {

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

// One field description, compiled: what FieldSet (selector.h) runs over pages. Values; any thread.

// What filters make of the matches.
enum class Pick { kFirst, kAll, kCount };
enum class Form { kWhole, kVisible, kLines, kNumber, kHash };

struct Filters {
  Pick pick = Pick::kFirst;
  Form form = Form::kWhole;
  std::optional<DecimalMark> mark;  // of number; empty: as the page's language has it
};

// Expressions over a tree; the root element is the context of those that were CSS.
struct HtmlSelector {
  std::vector<std::string> expressions;
  std::vector<std::string> xml_expressions;  // of CSS: with names as they were written
  bool css = false;
  std::string attribute;  // as it was written
  Filters filters{};
  bool is_reference = false;  // a URL, relative to the page's
};
struct JsonSelector {
  JsonPath path;
  Filters filters;
};
struct JsonLdSelector {
  std::string type;  // of the nodes that the path begins at; empty: at each block
  JsonPath path;
  Filters filters;
};
struct RegexSelector {
  std::shared_ptr<const RE2> regex;
  int group;  // 0: all of the match
  Filters filters{};
};
struct TextSelector {
  Filters filters;
};
using Selector =
    std::variant<HtmlSelector, JsonSelector, JsonLdSelector, RegexSelector, TextSelector>;

struct CompileError {
  std::string message;   // a phrase
  std::size_t position;  // the character's number in the selector, from 1
};

// Compiles every description but prose, which has no selector.
std::variant<Selector, CompileError> CompileSelector(const domain::FieldDescription& description);

}  // namespace vedette::html
