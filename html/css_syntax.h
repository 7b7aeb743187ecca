#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vedette::html {

// One token of a CSS selector. `position` is its first character's number in the source, from 1.
struct CssToken {
  enum class Kind { kSpace, kIdent, kHash, kString, kNumber, kDelim, kEnd };
  Kind kind;
  std::string text;  // escapes resolved; a hash without its '#', a string without its quotes
  std::size_t position;
};

struct CssTokenError {
  std::string message;
  std::size_t position;
};

// Cuts `source` (UTF-8) into tokens; the last one is kEnd. Comments vanish. Only a string that is
// not closed is an error.
std::optional<CssTokenError> TokenizeCss(std::string_view source, std::vector<CssToken>* tokens);

// The pseudo-classes that are conditions on one element, as XPath. Pure.

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

}  // namespace vedette::html
