#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/job/job.h"
#include "domain/workflow/lookup_result.h"
#include "net/http_server.h"
#include "store/jobs/end.h"
#include "store/jobs/read.h"
#include "store/jobs/start.h"

namespace vedette::api {

// The preference wait=n of the request's Prefer headers (RFC 7240), in seconds, at least 1. Of
// several the first counts. What cannot be read is no preference. Pure.
std::optional<std::chrono::seconds> PreferredWait(const net::ServerRequest& request);

// What clients see of a job, whatever its kind (GET /job-status):
//
//   {"task_id", "task_type", "status", "result", "error", "charge_amount",
//    "progress": {"done", "total"}, "created_at", "started_at", "finished_at", "deadline_at"}
//
// Result, error and charge are null until the end. Pure; throws std::invalid_argument where what is
// stored cannot be read.
base::Json StatusJson(const store::LookupView& view, double cents_per_credit);

// The result of a job that has ended.
domain::EndedLookup EndedLookupOf(const store::LookupView& view);

// Throws OrganisationAway (store/place.h) where the job looks cancelled since its organisation has
// moved: it goes on at the other cell, which charges it.
void CheckJobIsHere(store::Session& session, const base::Uuid& org_id,
                    const std::optional<std::string>& status_reason);

// What the routes that start, show and end jobs have in common.

inline constexpr std::string_view kTaskIdHeader = "Service-Task-Id";

// Ends the job, if it has not ended, counts it and raises what wakes others. Empty: there is no
// such job in scope. `audit`: of an end that a caller asked for.
std::optional<store::JobEndOutcome> EndJob(
    const Dependencies& parts, store::Session& session, const store::Scope& scope,
    const base::Uuid& job_id, const store::JobEnding& ending,
    const std::optional<store::AuditEntry>& audit = std::nullopt);

// Waits for the job, with a place that was reserved before, and answers what a route that waits
// answers: the result, also of a job that ended otherwise. At `until`, since boot, the job is ended
// as timed out. `is_repeatable`: the client gave an Idempotency-Key, so that it may come back; the
// job of another client that leaves is cancelled.
rest::Handled WaitForResult(Call& call, WaitPlaces::Place place, const base::Uuid& job_id,
                            std::chrono::nanoseconds until, bool is_repeatable);

// The result of a job that has ended already, as WaitForResult gives it.
rest::Reply ResultReply(const Dependencies& parts, store::Session& session,
                        const store::Scope& scope, const base::Uuid& job_id);

// The lane of a lookup that verifies addresses: that of mail servers where a member may ask them.
// Where none lives addresses are found all the same, and end as UNKNOWN.
domain::Lane VerifyingLane(const config::Config& config, store::Session& session);

// 402: the estimate cannot be reserved. Counted.
rest::Reply NotPayable(const Call& call, const store::JobNotPayable& refused);

// 503 too_many_waiting: no place is free, in the process or for the organisation.
rest::Reply TooManyWaiting();

// How a route that starts a lookup of any kind does so, once its request is validated.

// Whether the client waits for the job's end; an investigation, for which nobody waits, has an
// answer of its own to a start.
enum class Answering : std::uint8_t { kWaited, kStarted, kInvestigation };

// The answer to a request whose key is known, before anything that a start would need: the same
// task; of a route that waits its result, or the wait for it. Empty where the key is new, or there
// is none.
std::optional<rest::Handled> RepeatLookup(Call& call, Answering answering,
                                          const std::optional<store::Idempotency>& idempotency);

// Starts the job: 503 no_worker (nobody serves the lane of a job that is waited for) and
// too_many_waiting, 402, 409, 422. `time`: how long the client is kept at most, or else the job's
// deadline. `job` says what is asked and what it costs; who asks, and until when, is filled in
// here.
rest::Handled StartLookup(Call& call, Answering answering, std::chrono::milliseconds time,
                          store::NewJob job);

}  // namespace vedette::api
