#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/page.h"

namespace vedette::rest {

// One page of a list as it is answered.
template <typename T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next_cursor;  // where there are more items
};

// The page of `limit` items out of what was read, `limit + 1` items having been asked for: one too
// many says that there are more. `cursor_after` makes the cursor of an item.
template <typename T, typename CursorAfter>
Page<T> CutPage(store::Page<T> read, int limit, const CursorAfter& cursor_after) {
  const auto kept = static_cast<std::size_t>(limit);
  Page<T> page{std::move(read.items), std::nullopt};
  const bool over = page.items.size() > kept;
  if (over) page.items.erase(page.items.begin() + limit, page.items.end());
  if ((over || read.more) && !page.items.empty()) {
    page.next_cursor = cursor_after(page.items.back());
  }
  return page;
}

template <typename T, typename CursorAfter>
Page<T> CutPage(std::vector<T> read, int limit, const CursorAfter& cursor_after) {
  return CutPage(store::Page<T>{std::move(read), false}, limit, cursor_after);
}

// {"<name>":[...],"next_cursor"?} of a page. `write` appends one item's JSON text.
template <typename T, typename Write>
std::string PageText(const std::string& name, const Page<T>& page, const Write& write) {
  std::string text = "{\"" + name + "\":[";
  for (const T& item : page.items) {
    if (text.back() != '[') text += ',';
    write(item, &text);
  }
  text += ']';
  if (page.next_cursor) text += ",\"next_cursor\":\"" + *page.next_cursor + '"';
  return text + '}';
}

}  // namespace vedette::rest
