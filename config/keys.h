#pragma once

#include <array>
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
  // Of a tier's probe: what is not set, anywhere, is that of [probes.default].
  enum class Source { kDefaults, kInherited } source = Source::kDefaults;

  std::string Written() const { return "[" + section + "] " + name; }
};

// The tiers, and the section whose values their probes inherit. While a configuration is read,
// Config::probes holds that section under this name.
inline constexpr std::array<std::string_view, 5> kTiers{"micro", "low", "medium", "high", "xhigh"};
inline constexpr std::string_view kProbeDefaults = "default";

// Every key but those of [admin.tokens], [providers.http.<id>] and [providers.llm.<id>], whose
// names are free.
std::vector<Key> KeyTable();

// Keys of earlier versions that are still read: each sets the field that stands for it now.
std::vector<Key> FormerKeys();

inline constexpr std::string_view kTokensSection = "admin.tokens";
// The key of one token. Its name is lower-case letters, digits, '_' and '-'.
std::optional<Key> TokenKey(std::string_view name);

// [providers.http.<id>]: the keys of the one whose id this is. Empty where the id is none.
inline constexpr std::string_view kHttpProvidersSection = "providers.http";
std::vector<Key> HttpProviderKeys(std::string_view id);

// [providers.llm.<id>], likewise.
inline constexpr std::string_view kLlmProvidersSection = "providers.llm";
std::vector<Key> LlmProviderKeys(std::string_view id);

// "VEDETTE_" section "_" name, in upper case, '.' and '-' as '_'.
std::string EnvironmentName(std::string_view section, std::string_view name);

}  // namespace vedette::config
