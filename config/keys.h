#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/values.h"

// The one table that binds "[section] key" to a field of Config: it serves the file, the
// environment, the error messages and the list of keys. Inside config/ only.
namespace vedette::config {

struct Key {
  std::string section;  // "limits", "probes.low"
  std::string name;
  std::string allowed;  // completes "must be ..."
  bool secret = false;  // never shown; <name>_file is known too
  // Sets the field; false where the value is not allowed.
  std::function<bool(const RawValue&, Config*)> set;

  std::string Written() const { return "[" + section + "] " + name; }
};

// Every key but those of [admin.tokens], whose names are free.
std::vector<Key> KeyTable();

// Keys of earlier versions that are still read: each sets the field that stands for it now.
std::vector<Key> FormerKeys();

inline constexpr std::string_view kTokensSection = "admin.tokens";
// The key of one token. Its name is lower-case letters, digits, '_' and '-'.
std::optional<Key> TokenKey(std::string_view name);

// "VEDETTE_" section "_" name, in upper case, '.' and '-' as '_'.
std::string EnvironmentName(std::string_view section, std::string_view name);

}  // namespace vedette::config
