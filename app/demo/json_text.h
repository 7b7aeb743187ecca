#pragma once

#include <string>

#include "base/json.h"

// Values of answers as the demo tells them.
namespace vedette::app {

// A value as a person reads it.
inline std::string Text(const base::Json& value) {
  return value.is_string() ? value.get<std::string>() : base::DumpJson(value);
}

// Empty where there is none.
inline std::string TextAt(const base::Json& object, const char* key) {
  return object.contains(key) && !object[key].is_null() ? Text(object[key]) : std::string();
}

}  // namespace vedette::app
