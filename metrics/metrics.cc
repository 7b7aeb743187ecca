#include "metrics/metrics.h"

#include <sstream>
#include <string>
#include <utility>

#include <prometheus/text_serializer.h>

#include "base/json.h"
#include "base/version.h"
#include "metrics/metrics_impl.h"
#include "metrics/process_series.h"

// The metrics of checks, deliveries, requests and the process; and how all of it is shown.
namespace vedette::metrics {

Metrics::Impl::Impl(std::string_view version) {
  Gauges("vedette_build_info", "Always 1; version and commit are in the labels.")
      .Add({{"version", std::string(version)}, {"commit", std::string(base::Commit())}})
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
  query_errors.Get("connect");
  for (const char* outcome : kDeliveryOutcomes) deliveries_done.Get(outcome);
  for (const char* outcome : kMailOutcomes) mails.Get(outcome);
  for (const char* state : kChunkStates) chunks.Get(state);
  for (const char* state : {"pending", "due", "dead"}) deliveries.Get(state);
  for (const domain::Lane lane : kLanes) {
    const std::string_view name = domain::LaneName(lane);
    job_rows_in_flight.Get(name);
    job_chunk_oldest_due.Get(name);
    for (const char* state : kChunkStates) job_chunks.Get(name, state);
  }
  for (const char* outcome : {"ended", "deadline", "client_gone", "shutdown", "no_worker"}) {
    waits_ended.Get(outcome);
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

void Metrics::AddMails(std::string_view outcome, std::int64_t n) {
  impl_->mails.Get(outcome).Increment(static_cast<double>(n));
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

void Metrics::SetCell(std::string_view cell) {
  impl_->Gauges("vedette_cell_info", "Always 1; the cell is in the label, empty for the first.")
      .Add({{"cell", std::string(cell)}})
      .Set(1);
}

void Metrics::SetReceiversFailing(std::int64_t n) {
  impl_->receivers_failing.Set(static_cast<double>(n));
}

void Metrics::SetAuditOldestUnsealed(std::chrono::microseconds age) {
  impl_->audit_oldest_unsealed.Set(Seconds(age));
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
  prometheus::Counter& errors = impl_->query_errors.Get(query);
  if (!ok) errors.Increment();
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
    for (const prometheus::Counter* tier : impl_->checks[Index(outcome)]) total += tier->Value();
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
  json["secrets_unreadable"] = count(impl_->signing_secrets_unreadable.Value());
  json["waits"] = {{"used", count(impl_->waits.Value())}, {"max", count(impl_->waits_max.Value())}};
  return base::DumpJson(json);
}

// The metrics of jobs and of runs of workflows.

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

void Metrics::AddRenderedPage(std::string_view outcome, std::chrono::microseconds duration,
                              std::int64_t bytes, std::int64_t refused) {
  impl_->rendered_pages.Get(outcome).Increment();
  impl_->rendered_page_duration.Observe(Seconds(duration));
  impl_->rendered_bytes.Increment(static_cast<double>(bytes));
  impl_->rendered_refused.Increment(static_cast<double>(refused));
}

void Metrics::SetBrowser(std::int64_t open, std::int64_t waiting, std::int64_t memory_bytes) {
  impl_->browser_pages.Get("open").Set(static_cast<double>(open));
  impl_->browser_pages.Get("waiting").Set(static_cast<double>(waiting));
  impl_->browser_memory.Set(static_cast<double>(memory_bytes));
}

void Metrics::AddBrowsers(std::int64_t starts, std::int64_t deaths) {
  impl_->browser_starts.Increment(static_cast<double>(starts));
  impl_->browser_deaths.Increment(static_cast<double>(deaths));
}

void Metrics::SetBrowserMissing(bool missing) {
  impl_->browser_missing.Set(missing ? 1 : 0);
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

void Metrics::AddPaymentRequired(domain::JobKind kind, std::string_view reason) {
  impl_->payment_required.Get(domain::JobKindName(kind), reason).Increment();
}

// The metrics of lookups, their providers and mail servers.

void Metrics::ObserveLookup(std::string_view kind, std::string_view outcome,
                            std::chrono::microseconds duration) {
  impl_->lookups.Get(kind, outcome).Increment();
  impl_->lookup_duration.Get(kind).Observe(Seconds(duration));
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

void Metrics::SetServiceLimit(std::string_view service, std::int64_t n) {
  impl_->service_limit.Get(service).Set(static_cast<double>(n));
}

void Metrics::ObserveProviderCall(std::string_view provider, std::chrono::microseconds duration) {
  impl_->provider_duration.Get(provider).Observe(Seconds(duration));
}

}  // namespace vedette::metrics
