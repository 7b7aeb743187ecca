#include "api/tenant/jobs/lookups.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/tenant/call.h"
#include "api/tenant/jobs/waits.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "domain/email/finders.h"
#include "domain/money/money.h"
#include "domain/workflow/lookup_result.h"
#include "store/jobs/read.h"
#include "store/place.h"

namespace vedette::api {
namespace {

// More seconds than any wait lasts; a longer number cannot be read.
constexpr int kSecondsMax = 1'000'000;

// `preference`: "wait=10", with spaces around its parts and perhaps parameters after a semicolon.
std::optional<std::chrono::seconds> WaitOf(std::string_view preference) {
  preference = base::Trim(preference.substr(0, preference.find(';')));
  const std::size_t equals = preference.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view name = base::Trim(preference.substr(0, equals));
  if (!base::EqualsIgnoringAsciiCase(name, "wait")) return std::nullopt;
  std::string_view digits = base::Trim(preference.substr(equals + 1));
  if (digits.size() >= 2 && digits.front() == '"' && digits.back() == '"') {
    digits = digits.substr(1, digits.size() - 2);
  }
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || seconds < 1 || seconds > kSecondsMax) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

std::optional<std::chrono::seconds> PreferredWait(const net::ServerRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "prefer") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      if (const auto wait = WaitOf(rest.substr(0, comma))) return wait;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return std::nullopt;
}

domain::EndedLookup EndedLookupOf(const store::LookupView& view) {
  const store::JobView& job = view.job;
  base::Assert(job.finished_at.has_value(), "the result of a job is read after its end");
  domain::EndedLookup ended;
  ended.id = job.id;
  ended.kind = job.kind;
  ended.status = job.status;
  ended.status_reason = job.status_reason;
  ended.error = job.error;
  ended.charged_mc = job.charged_mc;
  ended.created_at = job.created_at;
  ended.finished_at = *job.finished_at;
  ended.params_json = view.params_json;
  ended.rows_json = view.rows_json;
  return ended;
}

void CheckJobIsHere(store::Session& session, const base::Uuid& org_id,
                    const std::optional<std::string>& status_reason) {
  constexpr std::string_view kMoved = "moved";  // move_close_jobs in store/queries/org_moves.sql
  if (status_reason == kMoved) store::CheckIsHere(session, org_id);
}

base::Json StatusJson(const store::LookupView& view, double cents_per_credit) {
  const store::JobView& job = view.job;
  base::Json json{{"task_id", job.id.ToString()},
                  {"task_type", domain::JobKindName(job.kind)},
                  {"status", domain::ShownJobStatus(job.status)},
                  {"result", nullptr},
                  {"error", domain::JobErrorOf(job.status, job.status_reason, job.error)},
                  {"status_reason", base::OrNull(job.status_reason)},
                  {"waiting_until", base::OrNull(job.waiting_until)},
                  {"charge_amount", nullptr},
                  {"progress", {{"done", job.rows_done}, {"total", job.rows_total}}},
                  {"created_at", base::FormatTimestamp(job.created_at)},
                  {"started_at", base::OrNull(job.started_at)},
                  {"finished_at", base::OrNull(job.finished_at)},
                  {"deadline_at", base::FormatTimestamp(job.deadline_at)}};
  if (!job.finished_at) return json;
  json["result"] = domain::LookupResult(EndedLookupOf(view), cents_per_credit);
  json["charge_amount"] = domain::CentsOf(job.charged_mc, cents_per_credit);
  const bool has_rows =
      job.kind != domain::JobKind::kInvestigation && job.kind != domain::JobKind::kWorkflow;
  // A row that was erased is there, and null.
  if (has_rows && job.status == domain::JobStatus::kCompleted && !view.rows_json) {
    json["error"] = {{"error", domain::kResultExpired},
                     {"message", "The result was kept for its time and is gone."}};
  }
  return json;
}

std::optional<store::JobEndOutcome> EndJob(const Dependencies& parts, store::Session& session,
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

rest::Reply ResultReply(const Dependencies& parts, store::Session& session,
                        const store::Scope& scope, const base::Uuid& job_id) {
  const auto view = store::GetLookup(session, scope, job_id);
  if (!view) return rest::NotFound("task");
  CheckJobIsHere(session, view->job.org_id, view->job.status_reason);
  return rest::JsonReply(200,
                         domain::WaitedResult(EndedLookupOf(*view), parts.config.cents_per_credit));
}

rest::Handled WaitForResult(Call& call, WaitPlaces::Place place, const base::Uuid& job_id,
                            std::chrono::nanoseconds until, bool is_repeatable) {
  const Dependencies& parts = call.parts;
  Wait wait;
  wait.job_id = job_id;
  wait.org_id = call.caller.org_id;
  wait.until = until;
  wait.reply = [&parts, scope = call.caller.scope(), job_id](store::Session& session, WaitEnd end) {
    if (end == WaitEnd::kDeadline) {
      EndJob(parts, session, scope, job_id, store::OverdueEnding());
    }
    return ResultReply(parts, session, scope, job_id);
  };
  if (!is_repeatable) {
    wait.gone = [&parts, scope = call.caller.scope(), job_id](store::Session& session) {
      EndJob(parts, session, scope, job_id,
             {domain::JobStatus::kCancelled, std::string(domain::kReasonClientGone),
              "The client that waited for the job has left."});
    };
  }
  return parts.waits.Park(std::move(place), std::move(wait), call.answer);
}

domain::Lane VerifyingLane(const config::Config& config, store::Session& session) {
  const bool may_ask = config.lookups.verifier == domain::kOwnVerifier &&
                       store::ReadServedLanes(session).contains(domain::Lane::kSmtp);
  return may_ask ? domain::Lane::kSmtp : domain::Lane::kLookup;
}

rest::Reply NotPayable(const Call& call, const store::JobNotPayable& refused) {
  const bool balance = refused.why == store::JobNotPayable::Why::kInsufficientCredits;
  const std::string_view reason =
      balance ? domain::kReasonInsufficientCredits : domain::kReasonSpendLimitReached;
  call.parts.metrics.AddPaymentRequired(refused.kind, reason);
  const std::int64_t spend_left_mc = refused.spend_left_mc.value_or(0);
  // A limit that was lowered may be below what is spent already.
  const std::int64_t left_mc =
      balance ? refused.balance_mc : std::max<std::int64_t>(spend_left_mc, 0);
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
    body["spent"] = domain::CreditsToJson(*refused.spend_limit_mc - spend_left_mc);
  }
  return rest::JsonReply(402, body);
}

rest::Reply TooManyWaiting() {
  return rest::Unavailable("too_many_waiting",
                           "too many requests wait for jobs; nothing was started or charged");
}

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

// The answer confirms that it comes after the wait that was preferred.
void Confirm(Call& call, std::chrono::seconds preferred) {
  call.answer->AddHeader("Preference-Applied", "wait=" + std::to_string(preferred.count()));
}

// Waits for a job that an earlier request with this key has started, to that job's deadline or for
// the time that this request prefers, or gives the result that it has.
rest::Handled WaitAgain(Call& call, const base::Uuid& job_id) {
  const auto job = store::GetJob(call.session(), call.caller.scope(), job_id);
  if (!job) return rest::NotFound("task");
  call.answer->AddHeader(std::string(kTaskIdHeader), job_id.ToString());
  if (job->finished_at) return ResultReply(call.parts, call.session(), call.caller.scope(), job_id);
  auto place = call.parts.waits.Reserve(call.caller.org_id);
  if (!place) return TooManyWaiting();
  const base::Clock& clock = call.parts.clock;
  auto left = std::chrono::nanoseconds(job->deadline_at - clock.Now());
  if (const auto preferred = PreferredWait(call.request()); preferred && *preferred < left) {
    left = *preferred;
    Confirm(call, *preferred);
  }
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
  const Dependencies& parts = call.parts;
  auto outcome = parts.job_starts.Start(call.session(), job);
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started != nullptr && !started->already_started) {
    parts.signals.Raise(store::Signal::kJobChunk);
  }
  return outcome;
}

rest::Handled StartAndWait(Call& call, std::chrono::milliseconds wait, store::NewJob job) {
  const Dependencies& parts = call.parts;
  if (!store::ReadServedLanes(call.session()).contains(job.blocks.front().lane)) {
    parts.metrics.AddWait("no_worker");
    return rest::Unavailable("no_worker", "no worker serves lookups now; nothing was charged");
  }
  auto place = parts.waits.Reserve(call.caller.org_id);
  if (!place) return TooManyWaiting();
  const auto preferred = PreferredWait(call.request());
  const bool is_preferred = preferred && *preferred < wait;
  if (is_preferred) wait = *preferred;
  job.waited = true;
  job.deadline = wait;
  const bool is_repeatable = job.idempotency.has_value();
  const auto outcome = Start(call, job);
  const auto until = parts.clock.SinceBoot() + wait;  // no earlier than the job's own deadline
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr) return NotStarted(call, outcome);
  if (started->already_started) {
    place.reset();
    return WaitAgain(call, started->job_id);
  }
  call.answer->AddHeader(std::string(kTaskIdHeader), started->job_id.ToString());
  if (is_preferred) Confirm(call, *preferred);
  return WaitForResult(call, std::move(*place), started->job_id, until, is_repeatable);
}

}  // namespace

std::optional<rest::Handled> RepeatLookup(Call& call, Answering answering,
                                          const std::optional<store::Idempotency>& idempotency) {
  if (!idempotency) return std::nullopt;
  const auto known = store::FindJobStart(call.session(), call.caller.org_id, *idempotency);
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
