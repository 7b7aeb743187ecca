#include "api/tenant/workflows/run_calls.h"

#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/tenant/jobs/lookups.h"
#include "base/json.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "domain/job/job.h"
#include "domain/money/money.h"
#include "store/jobs/scheduled_runs.h"

namespace vedette::api {

RunContext RunContextOf(Call& call) {
  return {call.parts.config,
          call.parts.policy,
          call.parts.clock,
          call.session(),
          call.caller,
          call.request().remote_address,
          [&call](std::size_t bytes) { TakeBytes(call, bytes); }};
}

void CheckMaySendPayload(const Call& call) {
  if (call.caller.principal.kind != domain::PrincipalKind::kUser) return;
  throw rest::Refusal(400, "session_token_not_allowed",
                      "webhook_payload is taken with an API key or an OAuth credential alone");
}

namespace {

using base::Json;

std::string RunDataSentence(const store::RunDataUse& use) {
  return fmt::format("the rows of your organisation's runs take {} of {} bytes", use.bytes,
                     use.bytes_max);
}

rest::Reply Started(const Call& call, const base::Uuid& workflow_id,
                    const store::JobStarted& started) {
  Json warnings = Json::array();
  if (started.run_data) {
    warnings.push_back(
        fmt::format("{}; at the limit runs are refused, and those that go on end as failed",
                    RunDataSentence(*started.run_data)));
  }
  return rest::JsonReply(
      200, {{"status", "queued"},
            {"workflow_id", workflow_id.ToString()},
            {"job_id", started.job_id.ToString()},
            {"cache_config", nullptr},
            {"already_started", started.already_started},
            {"estimated_cost_cents",
             domain::CentsOf(started.estimate_mc, call.parts.config.cents_per_credit)},
            {"warnings", std::move(warnings)}});
}

rest::Reply TooMuchRunData(const Call& call, const store::RunDataUse& use) {
  return rest::ErrorReply(
      409, domain::kReasonRunDataLimitReached,
      fmt::format("{}, with this run; nothing was charged. The rows of a run go {} hours after its "
                  "day; ask the operator for more room, or wait",
                  RunDataSentence(use), call.parts.config.retention.run_data.count()));
}

}  // namespace

rest::Reply RunReply(const Call& call, const base::Uuid& workflow_id,
                     const store::StartOutcome& outcome) {
  if (const auto* started = std::get_if<store::JobStarted>(&outcome)) {
    return Started(call, workflow_id, *started);
  }
  if (std::holds_alternative<store::JobKeyInUse>(outcome)) return KeyInUse();
  if (std::holds_alternative<store::JobKeyReused>(outcome)) return KeyReused();
  if (const auto* refused = std::get_if<store::JobNotPayable>(&outcome)) {
    return NotPayable(call, *refused);
  }
  if (std::holds_alternative<store::JobUploadNotFound>(outcome)) return InvalidHandle();
  if (std::holds_alternative<store::TooManyRuns>(outcome)) {
    return rest::Unavailable("too_many_runs",
                             "too many runs of your organisation are open; nothing was charged");
  }
  if (const auto* full = std::get_if<store::TooMuchRunData>(&outcome)) {
    return TooMuchRunData(call, full->use);
  }
  if (std::holds_alternative<store::TooManyJobs>(outcome)) {
    return rest::Unavailable("too_many_jobs",
                             "too many jobs of your organisation are open; nothing was charged");
  }
  throw std::logic_error("the start of a run had an outcome that no run has");
}

namespace {

void Announce(const Call& call, const store::StartOutcome& outcome) {
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr || started->already_started) return;
  if (!started->ended) call.parts.signals.Raise(store::Signal::kJobChunk);
  for (const store::Signal signal : started->raise) call.parts.signals.Raise(signal);
  if (const auto& ended = started->ended) {
    call.parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
}

}  // namespace

rest::Reply StartRun(const Call& call, const base::Uuid& workflow_id, const store::NewJob& job,
                     const std::optional<base::Uuid>& schedule_id) {
  const auto outcome = schedule_id ? *store::StartScheduledRun(call.session(), call.parts.clock,
                                                               job, {*schedule_id, std::nullopt},
                                                               StartLimitsOf(call.parts.config))
                                   : call.parts.job_starts.Start(call.session(), job);
  Announce(call, outcome);
  return RunReply(call, workflow_id, outcome);
}

}  // namespace vedette::api
