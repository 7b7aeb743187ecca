#pragma once

#include <vector>

#include "base/json_text.h"
#include "config/config_fwd.h"
#include "store/workflows/schedules.h"

namespace vedette::domain {
struct DefinitionRules;  // domain/workflow/definition.h
}
namespace vedette::net {
class AddressPolicy;  // net/public_address.h
}

namespace vedette::rest {

// What both ports have of workflows.

// The rules by which definitions are validated, those of clients and the operator's templates,
// which clients take. Keeps a reference to the address policy. Any thread.
domain::DefinitionRules DefinitionRulesOf(const config::Config& config,
                                          const net::AddressPolicy& policy);

// What clients and the operator see of a schedule. Pure.

// An item of the list: without its payload and its history.
base::Json ScheduleItem(const store::WorkflowSchedule& schedule);
// One alone, with what became of its newest slots.
base::Json ScheduleJson(const store::WorkflowSchedule& schedule,
                        const std::vector<store::WorkflowSlot>& slots);

}  // namespace vedette::rest
