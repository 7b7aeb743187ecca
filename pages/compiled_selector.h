#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/field_description.h"
#include "pages/json_path.h"
#include "pages/number.h"

// One field description, compiled: what FieldSet (selector.h) runs over pages. Values; any thread.
namespace vedette::pages {

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

}  // namespace vedette::pages
