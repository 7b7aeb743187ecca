#pragma once

#include <variant>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "net/public_address.h"
#include "store/jobs/scheduled_runs.h"
#include "store/jobs/start.h"
#include "store/session.h"

namespace vedette::api {

// Starts the run of a slot of a schedule as POST /workflows/run would, for whom the schedule is.
// Its id is domain::RunIdOf, and it takes the slot: SlotIsTaken where the schedule is not what was
// read. Plain blocking code; throws as InTransaction does.
std::variant<store::StartOutcome, store::WorkflowFault, store::SlotIsTaken> StartSlot(
    const config::Config& config, const net::AddressPolicy& policy, const base::Clock& clock,
    store::Session& session, const store::DueSchedule& due, const store::SlotTaken& slot);

}  // namespace vedette::api
