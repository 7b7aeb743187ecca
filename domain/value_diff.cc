#include "domain/value_diff.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

using base::Json;
using Items = std::vector<std::string>;

std::optional<Json> Parsed(std::string_view text) {
  Json value;
  if (base::ParseJson(text, &value, {.keep_numbers = true})) return std::nullopt;
  return value;
}

// The items of a list, or of the text of one.
std::optional<Items> ItemsOf(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.starts_with('[')) return std::nullopt;
    const auto list = Parsed(text);
    return list && list->is_array() ? ItemsOf(*list) : std::nullopt;
  }
  if (!value.is_array()) return std::nullopt;
  Items items;
  for (const Json& item : value) {
    items.push_back(item.is_string() ? base::FoldSpace(item.get_ref<const std::string&>())
                                     : base::DumpJson(item));
  }
  return items;
}

Items LinesOf(std::string_view text) {
  Items lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line = base::FoldSpace(text.substr(0, end));
    if (!line.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// What `items` has more than `others`.
Items More(const Items& items, const Items& others) {
  std::unordered_map<std::string_view, std::size_t> left;
  for (const std::string& other : others) ++left[other];
  Items more;
  for (const std::string& item : items) {
    const auto it = left.find(item);
    if (it == left.end() || it->second == 0) {
      more.push_back(item);
    } else {
      --it->second;
    }
  }
  return more;
}

ValueDiff DiffOf(const Items& previous, const Items& current) {
  return {More(current, previous), More(previous, current)};
}

}  // namespace

std::optional<ValueDiff> DiffOfValues(std::string_view previous_json,
                                      std::string_view current_json) {
  const auto previous = Parsed(previous_json);
  const auto current = Parsed(current_json);
  if (!previous || !current) return std::nullopt;
  const auto items_before = ItemsOf(*previous);
  const auto items_now = ItemsOf(*current);
  if (items_before && items_now) return DiffOf(*items_before, *items_now);
  if (!previous->is_string() || !current->is_string()) return std::nullopt;
  const auto& text_before = previous->get_ref<const std::string&>();
  const auto& text_now = current->get_ref<const std::string&>();
  const auto several = [](const std::string& text) { return text.find('\n') != std::string::npos; };
  if (!several(text_before) && !several(text_now)) return std::nullopt;
  return DiffOf(LinesOf(text_before), LinesOf(text_now));
}

}  // namespace vedette::domain
