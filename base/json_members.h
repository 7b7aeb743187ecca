#pragma once

#include <string>

#include "base/json.h"

// Reading what others answer: a member that is null counts as one that is missing.
namespace vedette::base {

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

}  // namespace vedette::base
