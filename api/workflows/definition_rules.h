#pragma once

#include "api/call.h"
#include "domain/workflow/definition.h"
#include "rest/problems.h"

namespace vedette::api {

// How definitions of this process's clients are judged. Keeps a reference to the address policy.
domain::DefinitionRules DefinitionRulesOf(const Parts& parts);

void AddFaults(const domain::ValidationFaults& faults, rest::Problems* problems);

}  // namespace vedette::api
