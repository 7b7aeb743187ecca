#include "api/kit/definition_rules.h"

#include <optional>
#include <string>

#include "base/uuid.h"
#include "config/rules.h"

namespace vedette::rest {

domain::DefinitionRules DefinitionRulesOf(const config::Config& config,
                                          const net::AddressPolicy& policy) {
  domain::DefinitionRules rules;
  rules.url_fault = [&policy](const std::string& url) -> std::optional<std::string> {
    const net::TenantUrlResult parsed = net::ParseTenantUrl(url, policy);
    if (parsed.url) return std::nullopt;
    return parsed.error->message;
  };
  rules.new_id = [] { return base::Uuid::V4().ToString(); };
  rules.finders = config::FindersOf(config);
  return rules;
}

}  // namespace vedette::rest
