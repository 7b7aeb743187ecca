#include "api/jobs/job_calls.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "api/jobs/status_view.h"
#include "api/jobs/waits.h"
#include "config/config.h"
#include "domain/job_result.h"
#include "domain/money.h"

namespace vedette::api {

std::optional<store::JobEndOutcome> EndJob(const Parts& parts, store::Session& session,
                                           const store::Scope& scope, const base::Uuid& job_id,
                                           const store::JobEnding& ending,
                                           const std::optional<store::AuditEntry>& audit) {
  auto outcome = store::EndJob(session, parts.clock, scope, job_id, ending, audit);
  if (!outcome) return std::nullopt;
  for (const store::Signal signal : outcome->raise) parts.signals.Raise(signal);
  if (const auto& ended = outcome->ended) {
    parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
  return outcome;
}

rest::Reply ResultReply(const Parts& parts, store::Session& session, const store::Scope& scope,
                        const base::Uuid& job_id) {
  const auto view = store::GetLookup(session, scope, job_id);
  if (!view) return rest::NotFound("task");
  return rest::JsonReply(200,
                         domain::WaitedResult(EndedLookupOf(*view), parts.config.cents_per_credit));
}

rest::Handled WaitForResult(Call& call, WaitPlaces::Place place, const base::Uuid& job_id,
                            std::chrono::nanoseconds until, bool is_repeatable) {
  const Parts& parts = call.parts;
  Wait wait;
  wait.job_id = job_id;
  wait.org_id = call.caller.org_id;
  wait.until = until;
  wait.reply = [&parts, scope = call.scope(), job_id](store::Session& session, WaitEnd end) {
    if (end == WaitEnd::kDeadline) {
      EndJob(parts, session, scope, job_id, store::OverdueEnding());
    }
    return ResultReply(parts, session, scope, job_id);
  };
  if (!is_repeatable) {
    wait.gone = [&parts, scope = call.scope(), job_id](store::Session& session) {
      EndJob(parts, session, scope, job_id,
             {domain::JobStatus::kCancelled, std::string(domain::kReasonClientGone),
              "The client that waited for the job has left."});
    };
  }
  return parts.waits.Park(std::move(place), std::move(wait), call.answer);
}

rest::Reply NotPayable(const Call& call, const store::JobNotPayable& refused) {
  const bool balance = refused.why == store::JobNotPayable::Why::kInsufficientCredits;
  const std::string_view reason =
      balance ? domain::kReasonInsufficientCredits : domain::kReasonSpendLimitReached;
  call.parts.metrics.AddPaymentRequired(refused.kind, reason);
  const std::int64_t left_mc = balance ? refused.balance_mc : refused.spend_left_mc.value_or(0);
  base::Json body{
      {"error", reason},
      {"message",
       fmt::format("this needs {} credits and {} are left{}; nothing was charged",
                   domain::FormatCredits(refused.estimate_mc), domain::FormatCredits(left_mc),
                   balance ? "" : " of the team's spend limit")},
      {"estimated_cost_cents",
       domain::CentsOf(refused.estimate_mc, call.parts.config.cents_per_credit)},
      {"estimated_cost_credits", domain::CreditsToJson(refused.estimate_mc)},
      {"balance", domain::CreditsToJson(refused.balance_mc)}};
  if (!balance && refused.team_id && refused.spend_limit_mc) {
    body["team_id"] = refused.team_id->ToString();
    body["spend_limit"] = domain::CreditsToJson(*refused.spend_limit_mc);
    body["spent"] = domain::CreditsToJson(*refused.spend_limit_mc - left_mc);
  }
  return rest::JsonReply(402, body);
}

rest::Reply TooManyWaiting() {
  return rest::Unavailable("too_many_waiting",
                           "too many requests wait for jobs; nothing was started or charged");
}

}  // namespace vedette::api
