#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "html/css_to_xpath.h"

namespace vedette::html {

inline constexpr std::size_t kJsonPathBytesMax = 2048;
inline constexpr std::size_t kJsonPathSegmentsMax = 64;
// Values examined in one search; beyond it the search gives up.
inline constexpr std::size_t kJsonPathVisitsMax = 2'000'000;

// A JSONPath of RFC 9535 without filters: names (`.name`, `['name']`), indexes (negative ones count
// from the end), wildcards, slices, several selectors in brackets, descendants (`..`). Immutable;
// any thread.
class JsonPath {
 public:
  static std::variant<JsonPath, SelectorSyntaxError> Parse(std::string_view text);

  struct Found {
    const base::Json* value = nullptr;  // inside the document; null where nothing matches
    bool gave_up = false;               // kJsonPathVisitsMax was reached
  };
  // The first match in the order of RFC 9535.
  Found First(const base::Json& document) const;

 private:
  friend class JsonPathParser;
  friend class JsonPathSearch;

  struct Slice {
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
  };
  struct Wildcard {};
  using Choice = std::variant<std::string, std::int64_t, Wildcard, Slice>;
  struct Segment {
    bool descendant = false;
    std::vector<Choice> choices;
  };

  std::vector<Segment> segments_;
};

}  // namespace vedette::html
