#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"

// Writing of what may be missing: it is null then.
namespace vedette::base {

// A text that is empty is missing.
inline Json OrNull(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// A text that is there may be empty.
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json OrNull(const std::optional<Timestamp>& time) {
  return time ? Json(FormatTimestamp(*time)) : Json(nullptr);
}

inline Json OrNull(const std::optional<Uuid>& id) {
  return id ? Json(id->ToString()) : Json(nullptr);
}

}  // namespace vedette::base
