#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"

// Instantiated once, in json.cc: otherwise every source that reads JSON compiles the class again.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace vedette::base {

struct JsonLimits {
  // Deeper input is refused: nlohmann's dump() and destructor recurse.
  int depth_max = 64;
  // More members in one object are refused: an ordered object is searched linearly.
  int members_max = 1024;
  // More values, containers included, are refused: each takes up to about 100 bytes of memory,
  // however short its text is.
  std::size_t values_max = std::numeric_limits<std::size_t>::max();
  // A number that would be written differently from how it was read is kept as its text: see
  // NumberText.
  bool keep_numbers = false;
  // An object that has a member twice is malformed; otherwise of equal keys the last wins.
  bool unique_members = false;
};

struct JsonError {
  enum class Kind { kMalformed, kTooDeep, kTooManyMembers, kTooManyValues };
  Kind kind;
  std::string message;  // one sentence, with the byte offset where there is one
};

// Parses one document, nothing after it. Invalid UTF-8, a NUL escape
// (\u0000: PostgreSQL cannot store it) and numbers out of range are malformed. Empty on success.
std::optional<JsonError> ParseJson(std::string_view text, Json* out, const JsonLimits& limits = {});

// The elements of an array that stay text until each of them is wanted.
struct JsonElements {
  std::size_t count = 0;
  std::vector<std::string_view> texts;  // of the first ones; they point into the document's text
};

// Parses as ParseJson does, for an object with one large array: the array in its member `name` is
// checked like the rest, but not built. In `out` it is [], and `elements` has the texts of its
// first `elements_max` elements; `elements` is empty where the member is missing or no array. So
// the memory that a document takes is that of its other members. The elements count for no limit
// but the depth: the caller that parses one gives the limits of one.
std::optional<JsonError> ParseJsonApart(std::string_view text, std::string_view name,
                                        std::size_t elements_max, Json* out,
                                        std::optional<JsonElements>* elements,
                                        const JsonLimits& limits);

// The text of a number that keep_numbers has kept, such as 12345678901234567890123 or 1E2. DumpJson
// writes it as it is; for nlohmann it is a binary value, which JSON text never has.
std::optional<std::string_view> NumberText(const Json& value);

// Parses as ParseJson does, and throws std::invalid_argument with the message. For text that we
// wrote ourselves.
Json ParseJsonOrThrow(std::string_view text);

// The value of a cell, which is text that we wrote ourselves, with its numbers as keep_numbers has
// them. Throws std::invalid_argument as ParseJsonOrThrow.
Json ReadJsonCell(std::string_view text);

// Compact text. Invalid UTF-8 is replaced, so that it never throws.
std::string DumpJson(const Json& value);
// Appends the same.
void AppendJson(const Json& value, std::string* out);
// Appends what AppendJson writes of such a string.
void AppendJsonString(std::string_view text, std::string* out);

// Reading what others answer: a member that is null counts as one that is missing.

// The member; null where `value` is no object, or has none of this name.
inline const Json* PresentMember(const Json& value, const char* name) {
  if (!value.is_object()) return nullptr;
  const auto it = value.find(name);
  return it == value.end() || it->is_null() ? nullptr : &*it;
}

// The text of a member; empty where there is none, or it is no string.
inline std::string TextMember(const Json& value, const char* name) {
  const Json* member = PresentMember(value, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string();
}

// Writing of what may be missing: it is null then.

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
