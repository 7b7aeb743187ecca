#include "domain/monitor/field_description.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

using Kind = FieldDescription::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kPrefixes{{
    {"css:", Kind::kCss},
    {"xpath:", Kind::kXPath},
    {"json:", Kind::kJson},
    {"jsonld:", Kind::kJsonLd},
    {"regex:", Kind::kRegex},
    {"meta:", Kind::kMeta},
}};

bool IsAttributeChar(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '-' || c == '_' || c == ':' ||
         c == '.';
}

// The last word is the attribute where it is "@" and a name; an "@" elsewhere, such as inside
// [title="a @b"], belongs to the selector.
void SplitAttribute(std::string_view text, FieldDescription* out) {
  const std::size_t at = text.rfind('@');
  const bool splits =
      at != std::string_view::npos && at + 1 < text.size() &&
      (at == 0 || base::IsSpace(text[at - 1])) &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(), IsAttributeChar);
  if (splits) {
    out->attribute = text.substr(at + 1);
    text = base::Trim(text.substr(0, at));
  }
  out->selector = text;
}

constexpr std::array<std::string_view, 7> kFilters{"first", "all",    "count", "text",
                                                   "lines", "number", "hash"};

// A word of lower-case letters, perhaps with a language in parentheses: "number(de-CH)".
bool IsFilterWord(std::string_view word) {
  if (word.ends_with(')')) {
    const std::size_t open = word.find('(');
    if (open == std::string_view::npos) return false;
    const std::string_view inside = word.substr(open + 1, word.size() - open - 2);
    const bool language = std::all_of(inside.begin(), inside.end(),
                                      [](char c) { return base::IsAsciiLetter(c) || c == '-'; });
    if (!language) return false;
    word = word.substr(0, open);
  }
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool IsKnownFilter(std::string_view word) {
  return std::find(kFilters.begin(), kFilters.end(), word.substr(0, word.find('('))) !=
         kFilters.end();
}

// Whether `word` behind the bar at `bar` is a filter of a selector of this kind.
bool IsFilter(Kind kind, std::string_view text, std::size_t bar, std::string_view word) {
  if (!IsFilterWord(word)) return false;
  const bool apart = bar == 0 || base::IsSpace(text[bar - 1]);
  if (kind == Kind::kCss && apart) return true;
  if (kind == Kind::kRegex && !apart) return false;
  return IsKnownFilter(word);
}

// Takes the words behind "|" off the end of `text`. Nothing inside brackets or quotes ends in a
// bare word, so what is found there is outside.
std::vector<std::string> TakeFilters(Kind kind, std::string_view* text) {
  std::vector<std::string> filters;
  for (;;) {
    const std::size_t bar = text->rfind('|');
    if (bar == std::string_view::npos) break;
    const std::string_view word = base::Trim(text->substr(bar + 1));
    if (!IsFilter(kind, *text, bar, word)) break;
    filters.emplace(filters.begin(), word);
    *text = base::Trim(text->substr(0, bar));
  }
  return filters;
}

}  // namespace

FieldDescription ParseFieldDescription(std::string_view description) {
  const std::string_view text = base::Trim(description);
  if (text == "text") return {Kind::kText, "", ""};
  if (std::string_view rest = text; rest.starts_with("text")) {
    auto filters = TakeFilters(Kind::kText, &rest);
    if (rest == "text" && !filters.empty()) {
      return {Kind::kText, "", "", std::move(filters)};
    }
  }
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!text.starts_with(prefix)) continue;
    FieldDescription parsed{kind, "", ""};
    std::string_view selector = base::Trim(text.substr(prefix.size()));
    parsed.filters = TakeFilters(kind, &selector);
    if (kind == Kind::kCss) {
      SplitAttribute(selector, &parsed);
    } else {
      parsed.selector = selector;
    }
    return parsed;
  }
  return {Kind::kProse, std::string(text), ""};
}

std::optional<std::string> MeantSelector(std::string_view description) {
  constexpr std::array<std::string_view, 14> kTags{"a",    "article", "body", "h1",   "h2",
                                                   "h3",   "img",     "li",   "main", "p",
                                                   "span", "table",   "td",   "title"};
  const std::string text(base::Trim(description));
  if (text.starts_with("//") || text.starts_with("(//")) return "xpath:" + text;
  if (text.starts_with("$.") || text.starts_with("$[")) return "json:" + text;
  const bool named =
      text.size() > 1 && (text[0] == '.' || text[0] == '#') && base::IsAsciiLetter(text[1]);
  if (named || std::find(kTags.begin(), kTags.end(), text) != kTags.end()) return "css:" + text;
  return std::nullopt;
}

}  // namespace vedette::domain
