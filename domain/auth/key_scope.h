#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// What an API key may be used for. A key without scopes has all of them, as every other credential
// has.
enum class KeyScope : std::uint8_t {
  kRead,       // every GET but those of kAccount
  kMonitors,   // monitors, their rows, events and uploads
  kLookups,    // finding, reversing and verifying e-mail, age, investigations, and their jobs
  kWorkflows,  // workflows, runs, templates, results
  kSearch,     // counts of field values, exclusion lists
  kAccount,    // keys, signing secrets, deliveries, audit, OAuth clients: what an owner manages
};
inline constexpr std::array kKeyScopes{KeyScope::kRead,    KeyScope::kMonitors,
                                       KeyScope::kLookups, KeyScope::kWorkflows,
                                       KeyScope::kSearch,  KeyScope::kAccount};
std::string_view KeyScopeName(KeyScope scope);  // "read", ...
std::optional<KeyScope> ParseKeyScope(std::string_view name);

class KeyScopes {
 public:
  // All of them.
  constexpr KeyScopes() : bits_((1U << kKeyScopes.size()) - 1) {}
  constexpr KeyScopes(std::initializer_list<KeyScope> scopes) : bits_(0) {
    for (const KeyScope scope : scopes) Add(scope);
  }
  // Those that are named; unknown names, which a later version may have written, allow nothing.
  static KeyScopes Of(const std::vector<std::string>& names);

  constexpr void Add(KeyScope scope) { bits_ |= Bit(scope); }
  constexpr bool Has(KeyScope scope) const { return (bits_ & Bit(scope)) != 0; }
  constexpr bool all() const { return *this == KeyScopes(); }
  std::vector<std::string> Names() const;  // in the order of kKeyScopes

  friend constexpr bool operator==(const KeyScopes&, const KeyScopes&) = default;

 private:
  static constexpr unsigned Bit(KeyScope scope) { return 1U << static_cast<unsigned>(scope); }
  unsigned bits_;
};

}  // namespace vedette::domain
