#include "domain/field_description.h"

#include <algorithm>
#include <array>
#include <utility>

namespace vedette::domain {
namespace {

using Kind = FieldDescription::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 5> kPrefixes{{
    {"css:", Kind::kCss},
    {"xpath:", Kind::kXPath},
    {"json:", Kind::kJson},
    {"regex:", Kind::kRegex},
    {"meta:", Kind::kMeta},
}};

bool IsSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool IsAttributeChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == ':' || c == '.';
}

// The last word is the attribute where it is "@" and a name; an "@" elsewhere, such as inside
// [title="a @b"], belongs to the selector.
void SplitAttribute(std::string_view text, FieldDescription* out) {
  const std::size_t at = text.rfind('@');
  const bool splits =
      at != std::string_view::npos && at + 1 < text.size() && (at == 0 || IsSpace(text[at - 1])) &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(), IsAttributeChar);
  if (splits) {
    out->attribute = text.substr(at + 1);
    text = Trim(text.substr(0, at));
  }
  out->selector = text;
}

bool IsFilterWord(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Takes the words behind "|" off the end of `text`. Nothing inside brackets or quotes ends in a
// bare word, so what is found there is outside; "ns|name", without a space, is CSS of its own.
std::vector<std::string> TakeFilters(std::string_view* text) {
  std::vector<std::string> filters;
  for (;;) {
    const std::size_t bar = text->rfind('|');
    if (bar == std::string_view::npos) break;
    const std::string_view word = Trim(text->substr(bar + 1));
    const bool apart = bar == 0 || IsSpace((*text)[bar - 1]);
    if (!apart || !IsFilterWord(word)) break;
    filters.emplace(filters.begin(), word);
    *text = Trim(text->substr(0, bar));
  }
  return filters;
}

}  // namespace

FieldDescription ParseFieldDescription(std::string_view description) {
  const std::string_view text = Trim(description);
  if (text == "text") return {Kind::kText, "", ""};
  if (std::string_view rest = text; rest.starts_with("text")) {
    auto filters = TakeFilters(&rest);
    if (rest == "text" && filters.size() == 1 && filters[0] == "hash") {
      return {Kind::kText, "", "", std::move(filters)};
    }
  }
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!text.starts_with(prefix)) continue;
    FieldDescription parsed{kind, "", ""};
    std::string_view selector = Trim(text.substr(prefix.size()));
    if (kind == Kind::kCss) {
      parsed.filters = TakeFilters(&selector);
      SplitAttribute(selector, &parsed);
    } else {
      parsed.selector = selector;
    }
    return parsed;
  }
  return {Kind::kProse, std::string(text), ""};
}

}  // namespace vedette::domain
