#pragma once

#include <optional>

#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "api/tenant/workflows/run_start.h"
#include "base/uuid.h"
#include "store/jobs/start.h"

// What the routes that start runs have in common.
namespace vedette::api {

// What the caller's run is planned by. It refers to the call.
RunContext RunContextOf(Call& call);

// A 400 for the session of a user, which sends no payloads.
void CheckMaySendPayload(const Call& call);

// The answer to a start, or to its repetition; refusals among them.
rest::Reply RunReply(const Call& call, const base::Uuid& workflow_id,
                     const store::StartOutcome& outcome);

// Starts the run, wakes workers, counts one that had nothing to do, and answers. `schedule_id`: of
// the schedule that was triggered.
rest::Reply StartRun(const Call& call, const base::Uuid& workflow_id, const store::NewJob& job,
                     const std::optional<base::Uuid>& schedule_id = std::nullopt);

}  // namespace vedette::api
