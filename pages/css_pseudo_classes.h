#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pages/css_tokens.h"

// The pseudo-classes that are conditions on one element, as XPath. Pure.
namespace vedette::pages {

// XPath 1.0 has no escapes in literals: text with both quotes becomes concat(...).
std::string XPathLiteral(std::string_view text);

struct PseudoClass {
  std::string name;                 // lower case
  std::vector<CssToken> arguments;  // of a functional one, without white space
  bool functional = false;
  std::string element;  // the compound's element name, "*" where it has none
};

struct PseudoClassError {
  std::string message;
};

// The XPath condition of a pseudo-class; "true()" where it always holds.
std::variant<std::string, PseudoClassError> PseudoClassCondition(const PseudoClass& pseudo);

}  // namespace vedette::pages
