#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "domain/job/job.h"
#include "domain/monitor/enums.h"

// Every series of the process, declared in one place and resolved once (prometheus-cpp). Built by
// app, handed down by reference. All methods are safe on any thread. Labels are bounded, never an
// id.
namespace vedette::metrics {

class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // vedette_cell_info{cell}: which cell this process is of; once, at its start
  void SetCell(std::string_view cell);

  // vedette_checks_total{outcome,tier}
  void AddChecks(domain::Outcome outcome, domain::Tier tier, std::int64_t n);
  // vedette_check_duration_seconds{probe}
  void ObserveCheckDuration(std::string_view probe_kind, std::chrono::microseconds duration);
  // vedette_probe_failures_total{probe,class}: attempts that failed
  void AddProbeFailure(std::string_view probe_kind, std::string_view error_class);
  // vedette_llm_tokens_total{kind,tier}: kind is prompt or completion, as the model's server counts
  void AddLlmTokens(domain::Tier tier, std::int64_t prompt, std::int64_t completion);
  // vedette_schedule_lag_seconds: first check's start minus due
  void ObserveScheduleLag(std::chrono::microseconds lag);
  // vedette_row_freshness_ratio: age of the last completed check over the frequency, at claim
  void ObserveRowFreshness(double ratio);
  // vedette_checks_in_flight
  void SetChecksInFlight(std::int64_t n);
  // vedette_credits_charged_total{tier}
  void AddCreditsCharged(domain::Tier tier, std::int64_t mc);
  // vedette_lease_lost_total
  void AddLeaseLost(std::int64_t n);
  // vedette_fields_never_observed_total{tier}: watched fields that completed checks looked for and
  // that have never had a value
  void AddFieldsNeverObserved(domain::Tier tier, std::int64_t n);
  // vedette_ticks_total{trigger}
  void AddTicks(domain::TickTrigger trigger, std::int64_t n);

  // vedette_deliveries_total{outcome}: delivered, retried, dead
  void AddDeliveries(std::string_view outcome, std::int64_t n);
  // vedette_mails_total{outcome}, of channels' e-mail: sent; bounced, where the relay refuses the
  // address for good; refused, where it says something else; unreachable, where it says nothing
  void AddMails(std::string_view outcome, std::int64_t n);
  // vedette_delivery_attempt_seconds
  void ObserveDeliveryAttempt(std::chrono::microseconds duration);

  // vedette_chunks{state}: due, leased, waiting; vedette_chunk_oldest_due_seconds;
  // vedette_deliveries{state}: pending, due, dead; vedette_delivery_oldest_pending_seconds;
  // vedette_receivers_failing, for 48 hours on end; vedette_monitors_failing: active monitors in
  // whose last tick every check failed; vedette_audit_oldest_unsealed_seconds, 0 without one. Set
  // by maintenance, from the database; a process without the role scheduler leaves them at 0.
  void SetChunks(std::string_view state, std::int64_t n);
  void SetChunkOldestDue(std::chrono::microseconds age);
  void SetDeliveries(std::string_view state, std::int64_t n);
  void SetDeliveryOldestPending(std::chrono::microseconds age);
  void SetReceiversFailing(std::int64_t n);
  void SetMonitorsFailing(std::int64_t n);
  void SetAuditOldestUnsealed(std::chrono::microseconds age);
  // vedette_signing_secrets_unreadable: live ones that this process has no encryption key for
  void SetSigningSecretsUnreadable(std::int64_t n);

  // vedette_jobs_total{kind,outcome}: jobs that this process has ended, whatever led to it, by the
  // end's name; vedette_job_seconds{kind}: from the job's start to its end
  void AddJobEnded(domain::JobKind kind, domain::JobStatus end, std::chrono::microseconds took);
  // vedette_job_rows_total{kind,outcome}: rows recorded; done, or failed where the row has an error
  void AddJobRows(domain::JobKind kind, std::int64_t done, std::int64_t failed);
  // vedette_job_row_seconds{lane}: from a row's start to its end, attempts included
  void ObserveJobRow(domain::Lane lane, std::chrono::microseconds duration);
  // vedette_job_rows_in_flight{lane}
  void SetJobRowsInFlight(domain::Lane lane, std::int64_t n);
  // vedette_job_credits_charged_total{kind}
  void AddJobCreditsCharged(domain::JobKind kind, std::int64_t mc);
  // vedette_job_chunks{lane,state}: due, leased, waiting;
  // vedette_job_chunk_oldest_due_seconds{lane}. Set by the keeper of jobs, from the database; a
  // process without the role scheduler leaves them at 0.
  void SetJobChunks(domain::Lane lane, std::string_view state, std::int64_t n);
  void SetJobChunkOldestDue(domain::Lane lane, std::chrono::microseconds age);
  // vedette_jobs{kind,status}: open jobs, so that the status is queued or running;
  // vedette_job_overdue_seconds: how long the deadline of the most overdue open job has passed, 0
  // without one. Set as the chunks are.
  void SetOpenJobs(domain::JobKind kind, domain::JobStatus status, std::int64_t n);
  void SetJobOverdue(std::chrono::microseconds age);

  // vedette_runs_stalled_total: runs that the keeper ended because nobody worked on them any more;
  // vedette_run_oldest_queued_seconds: how long the oldest run has waited that has not begun, 0
  // without one. Set as the chunks of jobs are.
  void AddRunsStalled(std::int64_t n);
  void SetRunOldestQueued(std::chrono::microseconds age);
  // vedette_parts_total{block}, vedette_run_rows_total{block,outcome}: what was recorded of a
  // block of that type: parts that ended, rows by done and failed
  void AddRunRecord(std::string_view block, int parts, std::int64_t done, std::int64_t failed);
  // vedette_part_seconds{block}: from the beginning of a part that is made as a whole to its
  // end, waits for a thread included; vedette_parts_held: such parts that this process holds
  void ObserveRunPart(std::string_view block, std::chrono::microseconds duration);
  void SetRunPartsHeld(std::int64_t n);
  // vedette_downloads_total{outcome}: begun, invalid, expired, gone
  void AddDownload(std::string_view outcome);

  // vedette_maintenance_failures_total{task}: runs of a task of store/fleet/maintenance.h that
  // failed
  void AddMaintenanceFailures(std::string_view task, std::int64_t n);

  // vedette_http_requests_total{route,code}, vedette_http_request_seconds{route}. `route` is the
  // route's pattern with its port before it ("api /monitors/{monitor_id}"), never the path.
  void ObserveHttpRequest(std::string_view route, int code, std::chrono::microseconds duration);

  // vedette_db_query_seconds{query}: the query's name; vedette_db_errors_total{query}
  void ObserveQuery(std::string_view query, std::chrono::microseconds duration, bool ok);

  // vedette_lookups_total{kind,outcome}, vedette_lookup_seconds{kind}: rows that were looked up,
  // copies apart. `outcome`: ok, unknown, not_found, or the code of the row's error.
  void ObserveLookup(std::string_view kind, std::string_view outcome,
                     std::chrono::microseconds duration);
  // vedette_suppressed_total{kind}: "address", "domain", "profile", "person"
  void AddSuppressed(std::string_view kind);
  // vedette_provider_calls_total{provider,lookup,outcome}: found, nothing, skipped, failed
  void AddProviderCall(std::string_view provider, std::string_view lookup,
                       std::string_view outcome);
  // vedette_smtp_connections_total{class,outcome}: done, closed, timeout, tls, connect, protocol,
  // refused; vedette_smtp_recipients_total{class,verdict}: what replies to RCPT say, controls and
  // witnesses included; vedette_smtp_blocked{class}: hosts that the fleet leaves alone (set
  // by the scheduler, from the database);
  // vedette_smtp_waiting{reason}: addresses that wait (dns, room, answer)
  void AddSmtpConnection(std::string_view mail_class, std::string_view outcome);
  void AddSmtpRecipient(std::string_view mail_class, std::string_view verdict);
  void SetSmtpBlocked(std::string_view mail_class, std::int64_t n);
  void SetSmtpWaiting(std::string_view reason, std::int64_t n);
  // vedette_email_doctor{check}: 1 ok, 0.5 a warning, 0 a failure
  void SetEmailDoctor(std::string_view check, double value);

  // vedette_provider_seconds{provider}: of calls that were not skipped
  void ObserveProviderCall(std::string_view provider, std::chrono::microseconds duration);

  // vedette_rendered_pages_total{outcome}: pages of the browser that have ended: ok, or the class
  // of the failure; vedette_rendered_page_seconds, vedette_rendered_bytes_total: what they took;
  // vedette_rendered_refused_total: connections that they tried and may not have
  void AddRenderedPage(std::string_view outcome, std::chrono::microseconds duration,
                       std::int64_t bytes, std::int64_t refused);
  // vedette_browser_pages{state}: open, waiting; vedette_browser_memory_bytes, as of its last page
  void SetBrowser(std::int64_t open, std::int64_t waiting, std::int64_t memory_bytes);
  // vedette_browser_starts_total; vedette_browser_deaths_total: of browsers that nobody had ended
  void AddBrowsers(std::int64_t starts, std::int64_t deaths);
  // vedette_browser_missing: 1 where a tier has pages rendered and this process cannot
  void SetBrowserMissing(bool missing);

  // vedette_service_requests_max{service}: how many requests to a service of the operator's this
  // process has under way at most; `service` is its "host:port", which the configuration names
  void SetServiceLimit(std::string_view service, std::int64_t n);

  // vedette_waits: places of requests that wait for a job's end, and vedette_waits_max: how many
  // the process has, 0 without the role api; vedette_waits_total{outcome}: ended, deadline,
  // client_gone, shutdown, or no_worker, where nobody would have worked on it
  void SetWaits(std::int64_t n);
  void SetWaitsMax(std::int64_t n);
  void AddWait(std::string_view outcome);

  // vedette_auth_total{credential,outcome}: requests decided by their credential (none, api_key,
  // token, external); outcome: ok, missing, ambiguous, invalid, unavailable
  void AddAuth(std::string_view credential, std::string_view outcome);
  // vedette_oauth_requests_total{endpoint,outcome}: of token, revoke and introspect, "ok" or the
  // answer's status; {assertion,replay} counts assertions that were sent again
  void AddOauthRequest(std::string_view endpoint, std::string_view outcome);
  // vedette_jwks_fetches_total{owner,outcome}: fetches of published keys; owner is client,
  // provider or console, outcome ok or failed
  void AddJwksFetch(std::string_view owner, std::string_view outcome);
  // vedette_oidc_keys_age_seconds: since the identity provider's keys were fetched, or since the
  // start where they never were; 0 without [oidc] or without the role api
  void SetOidcKeysAge(std::chrono::microseconds age);
  // vedette_access_tokens{kind}: live tokens of OAuth clients (oauth_client) and sessions (user).
  // Set by maintenance, from the database; a process without the role scheduler has none.
  void SetAccessTokens(std::string_view kind, std::int64_t n);
  // vedette_payment_required_total{kind,reason}: starts of jobs that were refused with a 402
  void AddPaymentRequired(domain::JobKind kind, std::string_view reason);

  // The text exposition format, with what process_series.h says of the process.
  std::string Expose() const;

  // What the console draws, counted since the start, as JSON: {"checks": {outcome: n},
  // "deliveries": {outcome: n}, "lag": {"le_s": [bound], "counts": [ticks in that bucket, the last
  // beyond every bound]}, "waits": {"used": n, "max": n}}; the last as it is now.
  std::string Summary() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::metrics
