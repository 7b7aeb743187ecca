#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/page.h"

namespace vedette::rest {

// Cursors of lists: opaque to clients, versioned, and bound to the list that they were made for.
// Each has one spelling. Pure.
//
//   base64url( version 1 | kind (1) | id that it is bound to (16) | place (8, 16 or 24 bytes) )
//
// Before it stands the cell that has given it out (domain/auth/cell.h). One of another cell is
// read, too: a list goes on after its organisation has moved, and ids are nobody else's.

// A longer text is no cursor that a body may name.
inline constexpr std::size_t kCursorCharsMax = 2048;

// Which list a cursor is of: a kind, which is a letter that no other list of the port has, and the
// monitor, organisation or team whose list it is. A nil id stands for a list that is nobody's.
struct CursorOf {
  char kind = 0;
  base::Uuid bound_to{};
  std::string_view cell{};  // that gives the cursors out
};

// The place after a position or tick id, after an id, and after an id among those of one time.
std::string EncodeCursor(const CursorOf& list, std::int64_t after);
std::string EncodeCursor(const CursorOf& list, const base::Uuid& after);
struct TimedPlace {
  base::Timestamp at{};
  base::Uuid id;
  friend bool operator==(const TimedPlace&, const TimedPlace&) = default;
};
std::string EncodeCursor(const CursorOf& list, const TimedPlace& after);

// Each is empty for what EncodeCursor did not make for this list. Numbers are not negative; times
// are within what PostgreSQL holds.
std::optional<std::int64_t> DecodeCursor(const CursorOf& list, std::string_view cursor);
std::optional<base::Uuid> DecodeIdCursor(const CursorOf& list, std::string_view cursor);
std::optional<TimedPlace> DecodeTimedCursor(const CursorOf& list, std::string_view cursor);

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
