#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vedette::html {

// What is wrong with a selector. `position` is the character's number in the selector, from 1.
struct SelectorSyntaxError {
  std::string message;  // a phrase: "expected a name, got '{'"
  std::size_t position;
};

// Longer selectors, and deeper nested :not(), :is(), :where(), :has(), are refused.
inline constexpr std::size_t kCssSelectorBytesMax = 4096;
inline constexpr int kCssNestingMax = 16;

// In which case the expressions have the names of elements and attributes: HTML's trees have them
// lower case, XML's as they are written.
enum class CssNames { kLower, kAsWritten };

// Translates a group of CSS selectors into XPath 1.0 expressions, one an alternative of the group:
// the group selects the union. They are evaluated with the root element as the context node.
//
// Selectors level 3 with the meaning of cssselect's HTMLTranslator, which the tests compare with,
// and beyond it `[a=v i]`, lists and complex selectors inside :not(), :is() and :where(), and
// :has(). Where cssselect departs from CSS (`.a:is(.b)` is an "or" there) CSS wins. Not served,
// with an error that says so: pseudo-elements, namespaces, :*-of-type without an element name,
// unknown pseudo-classes.
//
// Selectors are translated from right to left, into predicates over ancestors and earlier siblings:
// libxml2 then neither merges overlapping node sets nor tries ways that cannot matter, and the cost
// stays near elements x depth. Pure; any thread.
std::variant<std::vector<std::string>, SelectorSyntaxError> CssToXPath(
    std::string_view css, CssNames names = CssNames::kLower);

}  // namespace vedette::html
