#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "api/call.h"
#include "base/uuid.h"
#include "domain/job.h"
#include "rest/reply.h"
#include "store/jobs/end.h"
#include "store/jobs/start.h"

// What the routes that start, show and end jobs have in common.
namespace vedette::api {

inline constexpr std::string_view kTaskIdHeader = "Service-Task-Id";

// Ends the job, if it has not ended, counts it and raises what wakes others. Empty: there is no
// such job in scope. `audit`: of an end that a caller asked for.
std::optional<store::JobEndOutcome> EndJob(
    const Parts& parts, store::Session& session, const store::Scope& scope,
    const base::Uuid& job_id, const store::JobEnding& ending,
    const std::optional<store::AuditEntry>& audit = std::nullopt);

// Waits for the job, with a place that was reserved before, and answers what a route that waits
// answers: the result, also of a job that ended otherwise. At `until`, since boot, the job is ended
// as timed out. `is_repeatable`: the client gave an Idempotency-Key, so that it may come back; the
// job of another client that leaves is cancelled.
rest::Handled WaitForResult(Call& call, WaitPlaces::Place place, const base::Uuid& job_id,
                            std::chrono::nanoseconds until, bool is_repeatable);

// The result of a job that has ended already, as WaitForResult gives it.
rest::Reply ResultReply(const Parts& parts, store::Session& session, const store::Scope& scope,
                        const base::Uuid& job_id);

// 402: the estimate cannot be reserved. Counted.
rest::Reply NotPayable(const Call& call, const store::JobNotPayable& refused);

// 503 too_many_waiting: no place is free, in the process or for the organisation.
rest::Reply TooManyWaiting();

}  // namespace vedette::api
