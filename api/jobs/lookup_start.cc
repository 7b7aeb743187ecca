#include "api/jobs/lookup_start.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/idempotency.h"
#include "api/jobs/job_calls.h"
#include "api/jobs/prefer.h"
#include "api/jobs/waits.h"
#include "config/config.h"
#include "domain/job_result.h"
#include "domain/money.h"
#include "store/jobs/read.h"

namespace vedette::api {
namespace {

rest::Reply StartedReply(const Call& call, Answering answering, const store::JobStarted& started) {
  const std::string id = started.job_id.ToString();
  const bool is_investigation = answering == Answering::kInvestigation;
  return rest::JsonReply(
      200, {{is_investigation ? "investigation_id" : "job_id", id},
            {"task_id", id},
            {"status", "RUNNING"},
            {"already_started", started.already_started},
            {"estimated_cost_cents",
             domain::CentsOf(started.estimate_mc, call.parts.config.cents_per_credit)}});
}

// What is answered where no job was started.
rest::Reply NotStarted(const Call& call, const store::StartOutcome& outcome) {
  if (std::holds_alternative<store::JobKeyInUse>(outcome)) return KeyInUse();
  if (std::holds_alternative<store::JobKeyReused>(outcome)) return KeyReused();
  if (const auto* refused = std::get_if<store::JobNotPayable>(&outcome)) {
    return NotPayable(call, *refused);
  }
  if (std::holds_alternative<store::TooManyInvestigations>(outcome)) {
    rest::Reply reply = rest::ErrorReply(
        429, "too_many_deep_searches",
        "five investigations of your organisation are open; wait until one has ended");
    reply.headers.emplace_back("Retry-After", rest::kRetryAfterSeconds);
    return reply;
  }
  if (std::holds_alternative<store::TooManyJobs>(outcome)) {
    return rest::Unavailable("too_many_jobs",
                             "too many jobs of your organisation are open; nothing was charged");
  }
  throw std::logic_error("the start of a lookup had an outcome that no lookup has");
}

// Waits for a job that an earlier request with this key has started, to that job's deadline, or
// gives the result that it has.
rest::Handled WaitAgain(Call& call, const base::Uuid& job_id) {
  const auto job = store::GetJob(call.session, call.scope(), job_id);
  if (!job) return rest::NotFound("task");
  call.answer->AddHeader(std::string(kTaskIdHeader), job_id.ToString());
  if (job->finished_at) return ResultReply(call.parts, call.session, call.scope(), job_id);
  auto place = call.parts.waits.Reserve(call.caller.org_id);
  if (!place) return TooManyWaiting();
  const base::Clock& clock = call.parts.clock;
  const auto left = std::chrono::nanoseconds(job->deadline_at - clock.Now());
  return WaitForResult(call, std::move(*place), job_id, clock.SinceBoot() + left, true);
}

rest::Handled Repeated(Call& call, Answering answering, const store::StartOutcome& outcome) {
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr) return NotStarted(call, outcome);
  if (answering == Answering::kWaited) return WaitAgain(call, started->job_id);
  return StartedReply(call, answering, *started);
}

// Starts the job, and wakes a worker where it is new.
store::StartOutcome Start(const Call& call, const store::NewJob& job) {
  const Parts& parts = call.parts;
  auto outcome = parts.job_starts.Start(call.session, job);
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started != nullptr && !started->already_started) {
    parts.signals.Raise(store::Signal::kJobChunk);
  }
  return outcome;
}

rest::Handled StartAndWait(Call& call, std::chrono::milliseconds wait, store::NewJob job) {
  const Parts& parts = call.parts;
  if (!store::ReadServedLanes(call.session).contains(job.blocks.front().lane)) {
    return rest::Unavailable("no_worker", "no worker serves lookups now; nothing was charged");
  }
  auto place = parts.waits.Reserve(call.caller.org_id);
  if (!place) return TooManyWaiting();
  const auto preferred = PreferredWait(call.request());
  const bool is_preferred = preferred && *preferred < wait;
  if (is_preferred) wait = *preferred;
  job.waited = true;
  job.deadline = wait;
  const auto until = parts.clock.SinceBoot() + wait;
  const bool is_repeatable = job.idempotency.has_value();
  const auto outcome = Start(call, job);
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr) return NotStarted(call, outcome);
  if (started->already_started) {
    place.reset();
    return WaitAgain(call, started->job_id);
  }
  call.answer->AddHeader(std::string(kTaskIdHeader), started->job_id.ToString());
  if (is_preferred) {
    call.answer->AddHeader("Preference-Applied", "wait=" + std::to_string(preferred->count()));
  }
  return WaitForResult(call, std::move(*place), started->job_id, until, is_repeatable);
}

}  // namespace

std::optional<rest::Handled> RepeatLookup(Call& call, Answering answering,
                                          const std::optional<store::Idempotency>& idempotency) {
  if (!idempotency) return std::nullopt;
  const auto known = store::FindJobStart(call.session, call.caller.org_id, *idempotency);
  if (!known) return std::nullopt;
  return Repeated(call, answering, *known);
}

rest::Handled StartLookup(Call& call, Answering answering, std::chrono::milliseconds time,
                          store::NewJob job) {
  job.id = base::Uuid::V7(call.parts.clock);
  job.org_id = call.caller.org_id;
  job.team_id = call.caller.team_id;
  job.caller = call.caller.principal;
  job.remote_address = call.request().remote_address;
  if (answering == Answering::kWaited) return StartAndWait(call, time, std::move(job));
  job.deadline = time;
  const auto outcome = Start(call, job);
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr) return NotStarted(call, outcome);
  return StartedReply(call, answering, *started);
}

}  // namespace vedette::api
