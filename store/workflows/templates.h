#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/workflow/template.h"
#include "store/audit.h"
#include "store/session.h"

// Organisations' own templates of workflows; those that ship are in domain/workflow/template.h.
// Every function sees only that organisation's (G8), and throws as InTransaction does.
namespace vedette::store {

// An internal one, too. Empty where there is none, or this version cannot read it.
std::optional<domain::WorkflowTemplate> GetTemplate(Session& session, const base::Uuid& org_id,
                                                    const base::Uuid& id);

struct TemplateFilter {
  base::Uuid org_id;
  std::optional<std::string> category;
  std::optional<std::string> tag;
  std::optional<base::Uuid> after_id;
  int limit = 50;
};
// Those that are not internal, oldest first.
std::vector<domain::WorkflowTemplate> ListTemplates(Session& session, const TemplateFilter& filter);

struct TemplateOutcome {
  enum class Kind { kCreated, kNoOrganisation, kSlugTaken, kTooMany };
  Kind kind = Kind::kCreated;
  base::Uuid id;
};
// `shown` needs no id and no times. `per_org_max`: as many may an organisation have.
TemplateOutcome CreateTemplate(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                               const domain::WorkflowTemplate& shown, int per_org_max,
                               AuditEntry audit);

// False where there is no such template.
bool DeleteTemplate(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, AuditEntry audit);

}  // namespace vedette::store
