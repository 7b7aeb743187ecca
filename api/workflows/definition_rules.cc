#include "api/workflows/definition_rules.h"

#include "base/uuid.h"
#include "config/rules.h"
#include "net/public_address.h"

namespace vedette::api {

domain::DefinitionRules DefinitionRulesOf(const Parts& parts) {
  domain::DefinitionRules rules;
  rules.url_fault = [&policy = parts.policy](const std::string& url) -> std::optional<std::string> {
    const net::TenantUrlResult judged = net::JudgeTenantUrl(url, policy);
    if (judged.url) return std::nullopt;
    return judged.error->message;
  };
  rules.new_id = [] { return base::Uuid::V4().ToString(); };
  rules.finders = config::FindersOf(parts.config);
  return rules;
}

void AddFaults(const domain::ValidationFaults& faults, rest::Problems* problems) {
  for (const domain::ValidationFault& fault : faults) {
    problems->Add(fault.loc, fault.type, fault.msg, fault.input, fault.ctx);
  }
}

}  // namespace vedette::api
