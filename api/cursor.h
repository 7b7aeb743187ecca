#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

// Cursors of lists: opaque to clients, versioned, and bound to what they were made for. Pure.
//   base64url( version 1 | kind | id of the monitor or organisation (16) | where to go on (8 or 16)
//   )
namespace vedette::api {

enum class CursorKind : std::uint8_t { kMonitors = 'm', kRows = 'r', kTicks = 't' };

// Behind a position or tick id.
std::string EncodeCursor(CursorKind kind, const base::Uuid& bound_to, std::int64_t after);
// Behind an id.
std::string EncodeCursor(CursorKind kind, const base::Uuid& bound_to, const base::Uuid& after);

// Empty for what was not made by EncodeCursor with this kind and id.
std::optional<std::int64_t> DecodeCursor(CursorKind kind, const base::Uuid& bound_to,
                                         std::string_view cursor);
std::optional<base::Uuid> DecodeIdCursor(CursorKind kind, const base::Uuid& bound_to,
                                         std::string_view cursor);

}  // namespace vedette::api
