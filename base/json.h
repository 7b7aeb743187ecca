#pragma once

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

// Instantiated once, in json.cc: otherwise every source that reads JSON compiles the class again.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace vedette::base {

// Keeps the order of members, so that what a client sent comes back as it was sent.
using Json = nlohmann::ordered_json;

struct JsonLimits {
  // Deeper input is refused: nlohmann's dump() and destructor recurse.
  int depth_max = 64;
  // More members in one object are refused: an ordered object is searched linearly.
  int members_max = 1024;
};

struct JsonError {
  enum class Kind { kMalformed, kTooDeep, kTooManyMembers };
  Kind kind;
  std::string message;  // one sentence, with the byte offset where there is one
};

// Parses one document, nothing after it. Of equal keys the last wins. Invalid UTF-8, a NUL escape
// (\u0000: PostgreSQL cannot store it) and numbers out of range are malformed. Empty on success.
std::optional<JsonError> ParseJson(std::string_view text, Json* out, const JsonLimits& limits = {});

// As ParseJson; throws std::invalid_argument with the message. For text that we wrote ourselves.
Json ParseJsonOrThrow(std::string_view text);

// Compact text. Invalid UTF-8 is replaced, so that it never throws.
std::string DumpJson(const Json& value);

// A document as text, as a value, or both: made from one, it becomes the other at the first look.
// Most of what a row holds is handed on unread. Copies share what they found: one thread at a time.
class JsonText {
 public:
  JsonText() = default;  // {}
  // What the database or we ourselves wrote.
  explicit JsonText(std::string text);
  JsonText(Json value);  // NOLINT(google-explicit-constructor): a value is one

  // Throws std::invalid_argument as ParseJsonOrThrow.
  const Json& Value() const;
  const std::string& Text() const;

 private:
  struct Forms {
    std::optional<std::string> text;
    std::optional<Json> value;
  };
  std::shared_ptr<Forms> forms_;  // null = {}
};

}  // namespace vedette::base
