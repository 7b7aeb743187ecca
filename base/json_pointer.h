#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

namespace vedette::base {

// The place of a value in a JSON document (RFC 6901): "/data/email", "/list/0". Pure; a value.
class JsonPointer {
 public:
  JsonPointer() = default;  // "": the whole document

  // Empty where the text is no pointer: it is neither empty nor begins with a slash, or has a tilde
  // that neither 0 nor 1 follows.
  static std::optional<JsonPointer> Parse(std::string_view text);

  // The value, which lives in `document`; null where there is none.
  const Json* Find(const Json& document) const;

  bool operator==(const JsonPointer&) const = default;

 private:
  std::vector<std::string> tokens_;
};

}  // namespace vedette::base
