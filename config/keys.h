#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

// The one table that binds "[section] key" to a field of a Config: it serves the file, the
// environment, the error messages and the list of keys. Inside config/ only.
namespace vedette::config {

// A value as it was written, before it is known what it should be. In the environment and in secret
// files everything is plain text; TOML has types, and a number in quotation marks is none.
struct RawValue {
  enum class Kind { kPlain, kText, kInteger, kReal, kBoolean, kList, kOther };
  Kind kind = Kind::kOther;
  std::string text;  // kPlain, kText
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<std::string> list;

  static RawValue Plain(std::string text);

  // For error messages.
  std::string Show() const;
};

// The place where a value goes: a field of a Config, which must outlive it.
using Field =
    std::variant<int*, std::int64_t*, std::size_t*, std::chrono::milliseconds*,
                 std::chrono::seconds*, std::chrono::hours*, double*, std::optional<double>*,
                 std::optional<std::chrono::seconds>*, bool*, std::string*,
                 std::vector<std::string>*, std::vector<TestingConfig::FaultPoint>*, ChargeRule*>;

// Which values a key takes: plain data, so that the table of keys is one.
struct Values {
  enum class Kind : std::uint8_t {
    kWhole,     // from min to max, in the unit of the field
    kReal,      // from min to max; empty text unsets an optional field
    kCredits,   // from 0 to max, with three decimals outside, millicredits inside
    kHours,     // "90d", in whole hours
    kDuration,  // "5s", of a frequency; empty text unsets it
    kFlag,
    kText,
    kNonEmptyText,
    kChoice,         // one of `choices`
    kListenAddress,  // host:port
    kOptionalListenAddress,
    kDatabaseUrl,      // of PostgreSQL: postgresql://..., or words such as "host=db dbname=vedette"
    kOptionalUrl,      // http or https, or empty
    kOptionalIssuer,   // a URL that paths are written behind, or empty
    kOptionalAddress,  // of IPv4 or IPv6, or empty
    kOptionalCell,     // the id of a cell, or empty
    kOptionalKey,      // 32 bytes from 64 hexadecimal digits, or empty
    kCharge,           // one of `choices`, as a rule
    // Lists: of strings in TOML, separated by commas (or, in a secret's file, by lines) in plain
    // text.
    kKeyList,
    kTexts,       // none of them empty
    kChoiceList,  // of some of `choices`
    kProviderIds,
    kDomains,
    kCidrs,
    kAddresses,
    kFaultPoints,
  };
  Kind kind;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view choices = {};  // "text, json"
  bool secret = false;            // never shown; may also come from a file named by <key>_file
};

// What completes the sentence "must be ...".
std::string Allowed(const Values& values, const Field& field);

// Sets the field; false, and nothing is set, where the value is not allowed.
bool Set(const Values& values, const RawValue& raw, const Field& field);

// Whether a text may name a provider: ^[a-z][a-z0-9_]{1,31}$.
bool IsProviderId(std::string_view text);

struct Key {
  std::string section;  // "limits", "probes.low"
  std::string name;
  Values values;
  Field field;
  // The source of what is not set, anywhere: a tier's probe takes it from [probes.default].
  enum class Source { kDefaults, kInherited } source = Source::kDefaults;

  std::string Written() const { return "[" + section + "] " + name; }
};

// The tiers, and the section whose values their probes inherit. While a configuration is read,
// Config::probes holds that section under this name.
inline constexpr std::array<std::string_view, 5> kTiers{"micro", "low", "medium", "high", "xhigh"};
inline constexpr std::string_view kProbeDefaults = "default";

// Sections whose keys, or whose names, are the operator's: [admin.tokens] and [admin.roles],
// [providers.http.<id>], [providers.llm.<id>].
inline constexpr std::string_view kTokensSection = "admin.tokens";
inline constexpr std::string_view kRolesSection = "admin.roles";
inline constexpr std::string_view kHttpProvidersSection = "providers.http";
inline constexpr std::string_view kLlmProvidersSection = "providers.llm";

// Every key but those of the sections above, bound to the config, which must outlive them.
std::vector<Key> KeyTable(Config* config);

// Keys of those sections, which asking for them makes: of the token with this name, which is of
// lower-case letters, digits, '_' and '-', and its role; and of the service with this id. None
// where the name or the id is not one.
std::optional<Key> TokenKey(std::string_view name, Config* config);
std::optional<Key> TokenRoleKey(std::string_view name, Config* config);
std::vector<Key> HttpProviderKeys(std::string_view id, Config* config);
std::vector<Key> LlmProviderKeys(std::string_view id, Config* config);

// "VEDETTE_" section "_" name, in upper case, '.' and '-' as '_'.
std::string EnvironmentName(std::string_view section, std::string_view name);

}  // namespace vedette::config
