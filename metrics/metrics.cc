#include "metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/process_series.h"
#include "metrics/series.h"

namespace vedette::metrics {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

// In seconds, but for the ratio. Probes: from a cached page to the longest deadline.
const Buckets kCheckBuckets{.005, .01, .025, .05, .1, .25, .5,  1,
                            2.5,  5,   10,   30,  60, 120, 300, 600};
// Jobs: from a lookup that is answered from what is known to the longest run.
const Buckets kJobBuckets{.01, .025, .05, .1,  .25, .5,   1,    2.5,   5,
                          10,  30,   60,  300, 900, 3600, 7200, 21600, 86400};
const Buckets kLagBuckets{.001, .0025, .005, .01, .025, .05, .1,  .25, .5,
                          1,    2.5,   5,    10,  30,   60,  300, 900, 3600};
// 1 is a row checked exactly on time.
const Buckets kFreshnessBuckets{.5, .9, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10};
const Buckets kAttemptBuckets{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
const Buckets kHttpBuckets{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
const Buckets kQueryBuckets{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30};

constexpr std::array kTiers{domain::Tier::kMicro, domain::Tier::kLow, domain::Tier::kMedium,
                            domain::Tier::kHigh};

constexpr std::array kLanes{domain::Lane::kTransform, domain::Lane::kLookup, domain::Lane::kSmtp,
                            domain::Lane::kResearch};
static_assert(kLanes.size() == domain::kLaneCount);
constexpr std::array kJobKinds{domain::JobKind::kFindEmail,       domain::JobKind::kFindEmailBulk,
                               domain::JobKind::kReverseEmail,    domain::JobKind::kVerifyAge,
                               domain::JobKind::kInvestigation,   domain::JobKind::kWorkflow,
                               domain::JobKind::kReverseEmailBulk};
static_assert(kJobKinds.size() == domain::kJobKindCount);

constexpr std::array kChunkStates{"due", "leased", "waiting"};
constexpr std::array kDeliveryOutcomes{"delivered", "retried", "dead"};

template <typename Enum>
std::size_t Index(Enum value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

struct Metrics::Impl {
  explicit Impl(std::string_view version);

  Family<Counter>& Counters(const char* name, const char* help) {
    return Register(&registry, prometheus::BuildCounter, name, help);
  }
  Family<Gauge>& Gauges(const char* name, const char* help) {
    return Register(&registry, prometheus::BuildGauge, name, help);
  }
  Family<Histogram>& Histograms(const char* name, const char* help) {
    return Register(&registry, prometheus::BuildHistogram, name, help);
  }

  Registry registry;

  // Enumerations: resolved when built, so that a series stands at 0 before its first count.
  std::array<std::array<Counter*, kTiers.size()>, domain::kOutcomeMax + 1> checks{};
  std::array<Counter*, kTiers.size()> credits_charged{};
  std::array<Counter*, kTiers.size()> fields_never_observed{};
  std::array<Counter*, 2> ticks{};

  Histogram& schedule_lag = Histograms("vedette_schedule_lag_seconds",
                                       "Start of a tick's first check minus the time it was due.")
                                .Add({}, kLagBuckets);
  Histogram& row_freshness =
      Histograms("vedette_row_freshness_ratio",
                 "Age of a row's last completed check over the monitor's frequency, at claim.")
          .Add({}, kFreshnessBuckets);
  Gauge& checks_in_flight =
      Gauges("vedette_checks_in_flight", "Checks that this process is making right now.").Add({});
  Counter& lease_lost = Counters("vedette_lease_lost_total",
                                 "Leases that this process lost while working under them.")
                            .Add({});
  Histogram& delivery_attempt =
      Histograms("vedette_delivery_attempt_seconds", "Duration of one attempt at a delivery.")
          .Add({}, kAttemptBuckets);
  Gauge& delivery_oldest_pending = Gauges("vedette_delivery_oldest_pending_seconds",
                                          "Age of the oldest delivery that is not settled.")
                                       .Add({});
  Gauge& receivers_failing =
      Gauges("vedette_receivers_failing", "Webhook receivers that have failed for 48 hours on end.")
          .Add({});
  Gauge& monitors_failing =
      Gauges("vedette_monitors_failing", "Active monitors in whose last tick every check failed.")
          .Add({});
  Gauge& signing_secrets_unreadable =
      Gauges("vedette_signing_secrets_unreadable",
             "Live signing secrets that this process has no encryption key for.")
          .Add({});

  Gauge& chunk_oldest_due = Gauges("vedette_chunk_oldest_due_seconds",
                                   "How long the oldest chunk has been due without being claimed.")
                                .Add({});

  Series<Histogram> check_duration{
      &Histograms("vedette_check_duration_seconds", "Duration of a check, retries included."),
      {"probe"},
      kCheckBuckets};
  Series<Counter> probe_failures{
      &Counters("vedette_probe_failures_total", "Attempts of probes that failed, by class."),
      {"probe", "class"}};
  Series<Counter> llm_tokens{
      &Counters("vedette_llm_tokens_total", "Tokens that models were given and answered with."),
      {"kind", "tier"}};
  Series<Counter> deliveries_done{
      &Counters("vedette_deliveries_total", "Attempts at deliveries, by what came of them."),
      {"outcome"}};
  Series<Gauge> chunks{&Gauges("vedette_chunks", "Chunks in the database."), {"state"}};
  Series<Gauge> deliveries{&Gauges("vedette_deliveries", "Deliveries in the database."), {"state"}};
  Series<Counter> maintenance_failures{
      &Counters("vedette_maintenance_failures_total", "Runs of a maintenance task that failed."),
      {"task"}};
  Series<Counter> jobs_ended{&Counters("vedette_jobs_total", "Jobs ended by this process."),
                             {"kind", "outcome"}};
  Series<Histogram> job_duration{
      &Histograms("vedette_job_seconds", "Time from a job's start to its end."),
      {"kind"},
      kJobBuckets};
  Series<Counter> job_rows{&Counters("vedette_job_rows_total", "Rows of jobs recorded."),
                           {"kind", "outcome"}};
  Series<Histogram> job_row_duration{
      &Histograms("vedette_job_row_seconds", "Duration of a row of a job, attempts included."),
      {"lane"},
      kCheckBuckets};
  Series<Gauge> job_rows_in_flight{
      &Gauges("vedette_job_rows_in_flight", "Rows of jobs that this process works on right now."),
      {"lane"}};
  Series<Counter> job_credits_charged{
      &Counters("vedette_job_credits_charged_total", "Credits charged for rows of jobs."),
      {"kind"}};
  Series<Gauge> job_chunks{&Gauges("vedette_job_chunks", "Chunks of jobs in the database."),
                           {"lane", "state"}};
  Series<Gauge> job_chunk_oldest_due{
      &Gauges("vedette_job_chunk_oldest_due_seconds",
              "How long the oldest chunk of a job has been due without being claimed."),
      {"lane"}};
  Series<Gauge> jobs_open{&Gauges("vedette_jobs", "Jobs in the database that have not ended."),
                          {"kind", "status"}};
  Series<Gauge> runs_open{
      &Gauges("vedette_runs", "Runs of workflows in the database that have not ended."),
      {"status"}};
  Series<Counter> runs_ended{&Counters("vedette_runs_total", "Runs ended by this process."),
                             {"outcome"}};
  Histogram& run_duration =
      Histograms("vedette_run_seconds", "Time from a run's start to its end.").Add({}, kJobBuckets);
  Gauge& job_overdue = Gauges("vedette_job_overdue_seconds",
                              "How long the deadline of the most overdue open job has passed.")
                           .Add({});
  Counter& runs_stalled = Counters("vedette_runs_stalled_total",
                                   "Runs that ended since nobody worked on them any more.")
                              .Add({});
  Gauge& run_oldest_queued = Gauges("vedette_run_oldest_queued_seconds",
                                    "How long the oldest run that has not begun has waited.")
                                 .Add({});
  Series<Counter> run_parts{&Counters("vedette_parts_total", "Parts of runs recorded."), {"block"}};
  Series<Counter> run_rows{&Counters("vedette_run_rows_total", "Rows of runs recorded."),
                           {"block", "outcome"}};
  Series<Histogram> run_part_duration{
      &Histograms("vedette_part_seconds", "Time that a part took that is made as a whole."),
      {"block"},
      kCheckBuckets};
  Gauge& run_parts_held =
      Gauges("vedette_parts_held", "Parts that are made as a whole which this process holds.")
          .Add({});
  Series<Counter> downloads{
      &Counters("vedette_downloads_total", "Requests for result files of runs, by their links."),
      {"outcome"}};
  Series<Counter> http_requests{&Counters("vedette_http_requests_total", "Requests answered."),
                                {"route", "code"}};
  Series<Histogram> http_duration{
      &Histograms("vedette_http_request_seconds", "Time from a request's header to its answer."),
      {"route"},
      kHttpBuckets};
  Series<Histogram> query_duration{
      &Histograms("vedette_db_query_seconds", "Duration of a database statement, by its name."),
      {"query"},
      kQueryBuckets};
  Series<Counter> query_errors{
      &Counters("vedette_db_errors_total", "Database statements that failed, by name."), {"query"}};
  Gauge& waits =
      Gauges("vedette_waits", "Requests that wait for the end of a job right now.").Add({});
  Gauge& waits_max =
      Gauges("vedette_waits_max", "Requests that may wait for the end of a job at once.").Add({});
  Series<Counter> waits_ended{
      &Counters("vedette_waits_total", "Requests that waited for the end of a job."), {"outcome"}};
  Series<Counter> lookups{&Counters("vedette_lookups_total", "Rows that were looked up."),
                          {"kind", "outcome"}};
  Series<Histogram> lookup_duration{
      &Histograms("vedette_lookup_seconds", "Duration of a row's lookup, all providers included."),
      {"kind"},
      kCheckBuckets};
  Series<Counter> suppressed{
      &Counters("vedette_suppressed_total",
                "Leads and addresses that are on the list of those whom nobody looks up."),
      {"kind"}};
  Series<Counter> provider_calls{
      &Counters("vedette_provider_calls_total", "Questions to providers of lookups."),
      {"provider", "lookup", "outcome"}};
  Series<Counter> smtp_connections{
      &Counters("vedette_smtp_connections_total", "Connections to mail servers that have ended."),
      {"class", "outcome"}};
  Series<Counter> smtp_recipients{
      &Counters("vedette_smtp_recipients_total", "Replies of mail servers to a recipient."),
      {"class", "verdict"}};
  Series<Gauge> smtp_blocked{
      &Gauges("vedette_smtp_blocked", "Mail hosts that are left out, as they refuse this sender."),
      {"class"}};
  Series<Gauge> smtp_waiting{&Gauges("vedette_smtp_waiting", "Addresses that wait to be verified."),
                             {"reason"}};
  Series<Gauge> email_doctor{
      &Gauges("vedette_email_doctor", "Checks of the mail doctor: 1 ok, 0.5 a warning, 0 failed."),
      {"check"}};
  Series<Counter> auth{
      &Counters("vedette_auth_total", "Requests of the API by credential and what was made of it."),
      {"credential", "outcome"}};
  Series<Counter> oauth_requests{
      &Counters("vedette_oauth_requests_total", "Requests to the protocol routes of OAuth."),
      {"endpoint", "outcome"}};
  Series<Counter> jwks_fetches{
      &Counters("vedette_jwks_fetches_total", "Fetches of the keys that others publish."),
      {"owner", "outcome"}};
  Gauge& oidc_keys_age = Gauges("vedette_oidc_keys_age_seconds",
                                "Time since the identity provider's keys were fetched.")
                             .Add({});
  Series<Gauge> access_tokens{&Gauges("vedette_access_tokens", "Live credentials."), {"kind"}};
  Series<Counter> payment_required{&Counters("vedette_payment_required_total", "Starts not paid."),
                                   {"kind", "reason"}};
  Series<Histogram> provider_duration{
      &Histograms("vedette_provider_seconds", "Time from a question to a provider to its answer."),
      {"provider"},
      kCheckBuckets};
};

Metrics::Impl::Impl(std::string_view version) {
  Gauges("vedette_build_info", "Always 1; the version is in the label.")
      .Add({{"version", std::string(version)}})
      .Set(1);

  // Alerts ask for these; a counter that is not there yet is no 0.
  oauth_requests.Get("assertion", "replay");
  lookups.Get("find_email", "unknown");
  provider_calls.Get("other", "verify_email", "skipped");
  for (const char* owner : {"client", "provider"}) {
    for (const char* outcome : {"ok", "failed"}) jwks_fetches.Get(owner, outcome);
  }

  auto& check_family = Counters("vedette_checks_total", "Checks recorded, by outcome and tier.");
  auto& credit_family = Counters("vedette_credits_charged_total", "Credits charged for checks.");
  auto& never_family =
      Counters("vedette_fields_never_observed_total",
               "Watched fields that completed checks looked for and that never had a value.");
  for (const domain::Tier tier : kTiers) {
    const std::string name(domain::TierName(tier));
    fields_never_observed[Index(tier)] = &never_family.Add({{"tier", name}});
    credits_charged[Index(tier)] = &credit_family.Add({{"tier", name}});
    for (int o = 1; o <= domain::kOutcomeMax; ++o) {
      const auto outcome = static_cast<domain::Outcome>(o);
      checks[Index(outcome)][Index(tier)] = &check_family.Add(
          {{"outcome", std::string(domain::OutcomeName(outcome))}, {"tier", name}});
    }
  }
  auto& tick_family = Counters("vedette_ticks_total", "Ticks begun, by what began them.");
  for (const auto trigger : {domain::TickTrigger::kSchedule, domain::TickTrigger::kManual}) {
    ticks[Index(trigger)] =
        &tick_family.Add({{"trigger", std::string(domain::TickTriggerName(trigger))}});
  }
  for (const domain::Tier tier : kTiers) {
    for (const char* kind : {"prompt", "completion"}) llm_tokens.Get(kind, domain::TierName(tier));
  }
  for (const char* outcome : kDeliveryOutcomes) deliveries_done.Get(outcome);
  for (const char* state : kChunkStates) chunks.Get(state);
  for (const char* state : {"pending", "dead"}) deliveries.Get(state);
  for (const domain::Lane lane : kLanes) {
    const std::string_view name = domain::LaneName(lane);
    job_rows_in_flight.Get(name);
    job_chunk_oldest_due.Get(name);
    for (const char* state : kChunkStates) job_chunks.Get(name, state);
  }
  for (const char* outcome : {"begun", "invalid", "expired", "gone"}) downloads.Get(outcome);
  for (const domain::JobKind kind : kJobKinds) {
    for (const auto status : {domain::JobStatus::kQueued, domain::JobStatus::kRunning}) {
      jobs_open.Get(domain::JobKindName(kind), domain::JobStatusName(status));
      runs_open.Get(domain::JobStatusName(status));
    }
  }
}

Metrics::Metrics(std::string_view version) : impl_(std::make_unique<Impl>(version)) {}

Metrics::~Metrics() = default;

void Metrics::AddChecks(domain::Outcome outcome, domain::Tier tier, std::int64_t n) {
  impl_->checks.at(Index(outcome)).at(Index(tier))->Increment(static_cast<double>(n));
}

void Metrics::ObserveCheckDuration(std::string_view probe_kind,
                                   std::chrono::microseconds duration) {
  impl_->check_duration.Get(probe_kind).Observe(Seconds(duration));
}

void Metrics::AddProbeFailure(std::string_view probe_kind, std::string_view error_class) {
  impl_->probe_failures.Get(probe_kind, error_class).Increment();
}

void Metrics::AddLlmTokens(domain::Tier tier, std::int64_t prompt, std::int64_t completion) {
  const std::string_view name = domain::TierName(tier);
  impl_->llm_tokens.Get("prompt", name).Increment(static_cast<double>(prompt));
  impl_->llm_tokens.Get("completion", name).Increment(static_cast<double>(completion));
}

void Metrics::ObserveScheduleLag(std::chrono::microseconds lag) {
  impl_->schedule_lag.Observe(Seconds(lag));
}

void Metrics::ObserveRowFreshness(double ratio) {
  impl_->row_freshness.Observe(ratio);
}

void Metrics::SetChecksInFlight(std::int64_t n) {
  impl_->checks_in_flight.Set(static_cast<double>(n));
}

void Metrics::AddCreditsCharged(domain::Tier tier, std::int64_t mc) {
  impl_->credits_charged.at(Index(tier))->Increment(static_cast<double>(mc) / 1000);
}

void Metrics::AddLeaseLost(std::int64_t n) {
  impl_->lease_lost.Increment(static_cast<double>(n));
}

void Metrics::AddTicks(domain::TickTrigger trigger, std::int64_t n) {
  impl_->ticks.at(Index(trigger))->Increment(static_cast<double>(n));
}

void Metrics::AddDeliveries(std::string_view outcome, std::int64_t n) {
  impl_->deliveries_done.Get(outcome).Increment(static_cast<double>(n));
}

void Metrics::ObserveDeliveryAttempt(std::chrono::microseconds duration) {
  impl_->delivery_attempt.Observe(Seconds(duration));
}

void Metrics::SetChunks(std::string_view state, std::int64_t n) {
  impl_->chunks.Get(state).Set(static_cast<double>(n));
}

void Metrics::SetChunkOldestDue(std::chrono::microseconds age) {
  impl_->chunk_oldest_due.Set(Seconds(age));
}

void Metrics::SetDeliveries(std::string_view state, std::int64_t n) {
  impl_->deliveries.Get(state).Set(static_cast<double>(n));
}

void Metrics::SetDeliveryOldestPending(std::chrono::microseconds age) {
  impl_->delivery_oldest_pending.Set(Seconds(age));
}

void Metrics::SetReceiversFailing(std::int64_t n) {
  impl_->receivers_failing.Set(static_cast<double>(n));
}

void Metrics::SetMonitorsFailing(std::int64_t n) {
  impl_->monitors_failing.Set(static_cast<double>(n));
}

void Metrics::SetSigningSecretsUnreadable(std::int64_t n) {
  impl_->signing_secrets_unreadable.Set(static_cast<double>(n));
}

void Metrics::AddFieldsNeverObserved(domain::Tier tier, std::int64_t n) {
  if (n > 0) impl_->fields_never_observed.at(Index(tier))->Increment(static_cast<double>(n));
}

void Metrics::AddJobEnded(domain::JobKind kind, domain::JobStatus end,
                          std::chrono::microseconds took) {
  const std::string_view name = domain::JobKindName(kind);
  impl_->jobs_ended.Get(name, domain::JobStatusName(end)).Increment();
  impl_->job_duration.Get(name).Observe(Seconds(took));
  if (kind != domain::JobKind::kWorkflow) return;
  impl_->runs_ended.Get(domain::JobStatusName(end)).Increment();
  impl_->run_duration.Observe(Seconds(took));
}

void Metrics::AddJobRows(domain::JobKind kind, std::int64_t done, std::int64_t failed) {
  const std::string_view name = domain::JobKindName(kind);
  impl_->job_rows.Get(name, "done").Increment(static_cast<double>(done));
  impl_->job_rows.Get(name, "failed").Increment(static_cast<double>(failed));
}

void Metrics::ObserveJobRow(domain::Lane lane, std::chrono::microseconds duration) {
  impl_->job_row_duration.Get(domain::LaneName(lane)).Observe(Seconds(duration));
}

void Metrics::SetJobRowsInFlight(domain::Lane lane, std::int64_t n) {
  impl_->job_rows_in_flight.Get(domain::LaneName(lane)).Set(static_cast<double>(n));
}

void Metrics::AddJobCreditsCharged(domain::JobKind kind, std::int64_t mc) {
  impl_->job_credits_charged.Get(domain::JobKindName(kind))
      .Increment(static_cast<double>(mc) / 1000);
}

void Metrics::SetJobChunks(domain::Lane lane, std::string_view state, std::int64_t n) {
  impl_->job_chunks.Get(domain::LaneName(lane), state).Set(static_cast<double>(n));
}

void Metrics::SetJobChunkOldestDue(domain::Lane lane, std::chrono::microseconds age) {
  impl_->job_chunk_oldest_due.Get(domain::LaneName(lane)).Set(Seconds(age));
}

void Metrics::SetOpenJobs(domain::JobKind kind, domain::JobStatus status, std::int64_t n) {
  impl_->jobs_open.Get(domain::JobKindName(kind), domain::JobStatusName(status))
      .Set(static_cast<double>(n));
  if (kind == domain::JobKind::kWorkflow) {
    impl_->runs_open.Get(domain::JobStatusName(status)).Set(static_cast<double>(n));
  }
}

void Metrics::SetJobOverdue(std::chrono::microseconds age) {
  impl_->job_overdue.Set(Seconds(age));
}

void Metrics::AddRunsStalled(std::int64_t n) {
  impl_->runs_stalled.Increment(static_cast<double>(n));
}

void Metrics::SetRunOldestQueued(std::chrono::microseconds age) {
  impl_->run_oldest_queued.Set(Seconds(age));
}

void Metrics::AddRunRecord(std::string_view block, int parts, std::int64_t done,
                           std::int64_t failed) {
  impl_->run_parts.Get(block).Increment(parts);
  impl_->run_rows.Get(block, "done").Increment(static_cast<double>(done));
  impl_->run_rows.Get(block, "failed").Increment(static_cast<double>(failed));
}

void Metrics::ObserveRunPart(std::string_view block, std::chrono::microseconds duration) {
  impl_->run_part_duration.Get(block).Observe(Seconds(duration));
}

void Metrics::SetRunPartsHeld(std::int64_t n) {
  impl_->run_parts_held.Set(static_cast<double>(n));
}

void Metrics::AddDownload(std::string_view outcome) {
  impl_->downloads.Get(outcome).Increment();
}

void Metrics::AddMaintenanceFailures(std::string_view task, std::int64_t n) {
  impl_->maintenance_failures.Get(task).Increment(static_cast<double>(n));
}

void Metrics::ObserveHttpRequest(std::string_view route, int code,
                                 std::chrono::microseconds duration) {
  impl_->http_requests.Get(route, std::to_string(code)).Increment();
  impl_->http_duration.Get(route).Observe(Seconds(duration));
}

void Metrics::ObserveQuery(std::string_view query, std::chrono::microseconds duration, bool ok) {
  impl_->query_duration.Get(query).Observe(Seconds(duration));
  Counter& errors = impl_->query_errors.Get(query);
  if (!ok) errors.Increment();
}

void Metrics::ObserveLookup(std::string_view kind, std::string_view outcome,
                            std::chrono::microseconds duration) {
  impl_->lookups.Get(kind, outcome).Increment();
  impl_->lookup_duration.Get(kind).Observe(Seconds(duration));
}

void Metrics::SetWaits(std::int64_t n) {
  impl_->waits.Set(static_cast<double>(n));
}

void Metrics::SetWaitsMax(std::int64_t n) {
  impl_->waits_max.Set(static_cast<double>(n));
}

void Metrics::AddWait(std::string_view outcome) {
  impl_->waits_ended.Get(outcome).Increment();
}

void Metrics::AddSuppressed(std::string_view kind) {
  impl_->suppressed.Get(kind).Increment();
}

void Metrics::AddProviderCall(std::string_view provider, std::string_view lookup,
                              std::string_view outcome) {
  impl_->provider_calls.Get(provider, lookup, "failed");  // there before the first one fails
  impl_->provider_calls.Get(provider, lookup, outcome).Increment();
}

void Metrics::AddSmtpConnection(std::string_view mail_class, std::string_view outcome) {
  impl_->smtp_connections.Get(mail_class, outcome).Increment();
}

void Metrics::AddSmtpRecipient(std::string_view mail_class, std::string_view verdict) {
  impl_->smtp_recipients.Get(mail_class, verdict).Increment();
}

void Metrics::SetSmtpBlocked(std::string_view mail_class, std::int64_t n) {
  impl_->smtp_blocked.Get(mail_class).Set(static_cast<double>(n));
}

void Metrics::SetSmtpWaiting(std::string_view reason, std::int64_t n) {
  impl_->smtp_waiting.Get(reason).Set(static_cast<double>(n));
}

void Metrics::SetEmailDoctor(std::string_view check, double value) {
  impl_->email_doctor.Get(check).Set(value);
}

void Metrics::ObserveProviderCall(std::string_view provider, std::chrono::microseconds duration) {
  impl_->provider_duration.Get(provider).Observe(Seconds(duration));
}

void Metrics::AddAuth(std::string_view credential, std::string_view outcome) {
  impl_->auth.Get(credential, outcome).Increment();
}

void Metrics::AddOauthRequest(std::string_view endpoint, std::string_view outcome) {
  impl_->oauth_requests.Get(endpoint, outcome).Increment();
}

void Metrics::AddJwksFetch(std::string_view owner, std::string_view outcome) {
  impl_->jwks_fetches.Get(owner, outcome).Increment();
}

void Metrics::SetOidcKeysAge(std::chrono::microseconds age) {
  impl_->oidc_keys_age.Set(Seconds(age));
}

void Metrics::SetAccessTokens(std::string_view kind, std::int64_t n) {
  impl_->access_tokens.Get(kind).Set(static_cast<double>(n));
}

void Metrics::AddPaymentRequired(domain::JobKind kind, std::string_view reason) {
  impl_->payment_required.Get(domain::JobKindName(kind), reason).Increment();
}

std::string Metrics::Expose() const {
  std::ostringstream out;
  auto families = impl_->registry.Collect();
  for (auto& family : ProcessSeries()) families.push_back(std::move(family));
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

std::string Metrics::Summary() const {
  const auto count = [](double value) { return static_cast<std::int64_t>(value); };
  base::Json json = base::Json::object();
  for (int o = 1; o <= domain::kOutcomeMax; ++o) {
    const auto outcome = static_cast<domain::Outcome>(o);
    double total = 0;
    for (const Counter* tier : impl_->checks[Index(outcome)]) total += tier->Value();
    json["checks"][std::string(domain::OutcomeName(outcome))] = count(total);
  }
  for (const char* outcome : kDeliveryOutcomes) {
    json["deliveries"][outcome] = count(impl_->deliveries_done.Get(outcome).Value());
  }
  json["lag"] = {{"le_s", kLagBuckets}, {"counts", base::Json::array()}};
  std::uint64_t below = 0;
  for (const auto& bucket : impl_->schedule_lag.Collect().histogram.bucket) {
    json["lag"]["counts"].push_back(bucket.cumulative_count - below);
    below = bucket.cumulative_count;
  }
  json["waits"] = {{"used", count(impl_->waits.Value())}, {"max", count(impl_->waits_max.Value())}};
  return base::DumpJson(json);
}

}  // namespace vedette::metrics
