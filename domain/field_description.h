#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// How the description of a watched field says what to find. A prefix names the selector language;
// all else is prose, for a language model.
struct FieldDescription {
  enum class Kind { kCss, kXPath, kJson, kRegex, kMeta, kText, kProse };
  Kind kind;
  std::string
      selector;  // what stands behind the prefix, trimmed; for css without the " @attr" and filters
  std::string attribute;               // css only: the attribute's name; empty = the element's text
  std::vector<std::string> filters{};  // of css and text: the words behind "|", in order
};

// "css:.price @data-amount | number", "xpath://h1", "json:$.price", "regex:v([0-9.]+)",
// "meta:og:title", "text", "text | hash". Prefixes are lower case; white space around is ignored.
// Never fails: whatever has no known prefix is prose.
FieldDescription ParseFieldDescription(std::string_view description);

}  // namespace vedette::domain
