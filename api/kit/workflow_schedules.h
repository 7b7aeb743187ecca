#pragma once

#include <vector>

#include "base/json_text.h"
#include "store/workflows/schedules.h"

namespace vedette::rest {

// What clients and the operator see of a schedule of a workflow. Pure.

// An item of the list: without its payload and its history.
base::Json ScheduleItem(const store::WorkflowSchedule& schedule);
// One alone, with what became of its newest slots.
base::Json ScheduleJson(const store::WorkflowSchedule& schedule,
                        const std::vector<store::WorkflowSlot>& slots);

}  // namespace vedette::rest
