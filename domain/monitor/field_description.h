#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// How the description of a watched field says what to find. A prefix names the selector language;
// all else is prose, for a language model.
struct FieldDescription {
  enum class Kind { kCss, kXPath, kJson, kJsonLd, kRegex, kMeta, kText, kProse };
  Kind kind;
  std::string
      selector;  // what stands behind the prefix, trimmed; for css without the " @attr" and filters
  std::string attribute;               // css only: the attribute's name; empty = the element's text
  std::vector<std::string> filters{};  // the words behind "|", in order, as in "number(de)"
};

// "css:.price @data-amount | number(de)", "xpath://h1", "json:$.price",
// "jsonld:Product $.offers.price", "regex:v([0-9.]+)",
// "meta:og:title", "text", "text|hash". Prefixes are lower case; white space around is ignored.
// Filters stand behind every selector, and the known ones need no white space before the bar but
// behind a regex, where a bar without it is an alternative. A word that is no known filter is one
// behind css alone, where nothing else can be meant. Never fails: whatever has no known prefix is
// prose.
FieldDescription ParseFieldDescription(std::string_view description);

// What somebody most likely meant who wrote a selector without its prefix: "css:.price" of
// ".price", "xpath://h1" of "//h1". Nothing where a description reads like prose.
std::optional<std::string> MeantSelector(std::string_view description);

}  // namespace vedette::domain
