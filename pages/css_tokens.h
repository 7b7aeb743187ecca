#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::pages {

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

}  // namespace vedette::pages
