#include "domain/auth/key_scope.h"

namespace vedette::domain {

std::string_view KeyScopeName(KeyScope scope) {
  switch (scope) {
    case KeyScope::kRead:
      return "read";
    case KeyScope::kMonitors:
      return "monitors";
    case KeyScope::kLookups:
      return "lookups";
    case KeyScope::kWorkflows:
      return "workflows";
    case KeyScope::kSearch:
      return "search";
    case KeyScope::kAccount:
      return "account";
  }
  return "";
}

std::optional<KeyScope> ParseKeyScope(std::string_view name) {
  for (const KeyScope scope : kKeyScopes) {
    if (KeyScopeName(scope) == name) return scope;
  }
  return std::nullopt;
}

KeyScopes KeyScopes::Of(const std::vector<std::string>& names) {
  KeyScopes scopes{};
  scopes.bits_ = 0;
  for (const std::string& name : names) {
    if (const auto scope = ParseKeyScope(name)) scopes.Add(*scope);
  }
  return scopes;
}

std::vector<std::string> KeyScopes::Names() const {
  std::vector<std::string> names;
  for (const KeyScope scope : kKeyScopes) {
    if (Has(scope)) names.emplace_back(KeyScopeName(scope));
  }
  return names;
}

}  // namespace vedette::domain
