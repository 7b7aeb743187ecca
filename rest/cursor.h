#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"

// Cursors of lists: opaque to clients, versioned, and bound to the list that they were made for.
// Each has one spelling. Pure.
//
//   base64url( version 1 | kind (1) | id that it is bound to (16) | place (8, 16 or 24 bytes) )
namespace vedette::rest {

// Which list a cursor is of: a kind, which is a letter that no other list of the port has, and the
// monitor, organisation or team whose list it is. A nil id stands for a list that is nobody's.
struct CursorOf {
  char kind = 0;
  base::Uuid bound_to{};
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

}  // namespace vedette::rest
