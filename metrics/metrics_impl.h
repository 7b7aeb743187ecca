#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "metrics/metrics.h"

// Internal to metrics/: the series of a family by their labels.
namespace vedette::metrics {

using Buckets = prometheus::Histogram::BucketBoundaries;

// Series of one family. Routes, queries and kinds are a few dozen; beyond it something passes what
// it should not, and the rest is counted as "other" rather than kept.
inline constexpr std::size_t kSeriesMax = 1024;

inline double Seconds(std::chrono::microseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

template <typename Build>
auto& Register(prometheus::Registry* registry, Build build, const char* name, const char* help) {
  return build().Name(name).Help(help).Register(*registry);
}

// The series of a family with one to three labels that are known by text, resolved once each.
template <typename Metric>
class Series {
 public:
  Series(prometheus::Family<Metric>* family, std::vector<std::string> labels, Buckets buckets = {})
      : family_(family), labels_(std::move(labels)), buckets_(std::move(buckets)) {}

  Metric& Get(std::string_view first, std::string_view second = {}, std::string_view third = {}) {
    const std::lock_guard lock(mutex_);
    const View values{first, second, third};
    if (const auto it = series_.find(values); it != series_.end()) return *it->second;
    return Add(series_.size() < kSeriesMax ? values : View{"other", "other", "other"});
  }

 private:
  using Values = std::array<std::string, 3>;
  using View = std::array<std::string_view, 3>;

  // Lets a series be found without building strings.
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  Metric& Add(const View& values) {
    Metric*& metric =
        series_[Values{std::string(values[0]), std::string(values[1]), std::string(values[2])}];
    if (metric == nullptr) {
      prometheus::Labels labels;
      for (std::size_t i = 0; i < labels_.size(); ++i) labels[labels_[i]] = values[i];
      if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
        metric = &family_->Add(labels, buckets_);
      } else {
        metric = &family_->Add(labels);
      }
    }
    return *metric;
  }

  prometheus::Family<Metric>* const family_;
  const std::vector<std::string> labels_;
  const Buckets buckets_;
  std::mutex mutex_;
  std::map<Values, Metric*, Less> series_;  // guarded by mutex_
};

// Internal to metrics/: every family of series. What is counted stands in a file a subject.

// In seconds, but for the ratio. Probes: from a cached page to the longest deadline.
inline const Buckets kCheckBuckets{.005, .01, .025, .05, .1, .25, .5,  1,
                                   2.5,  5,   10,   30,  60, 120, 300, 600};
// Jobs: from a lookup that is answered from what is known to the longest run.
inline const Buckets kJobBuckets{.01, .025, .05, .1,  .25, .5,   1,    2.5,   5,
                                 10,  30,   60,  300, 900, 3600, 7200, 21600, 86400};
inline const Buckets kLagBuckets{.001, .0025, .005, .01, .025, .05, .1,  .25, .5,
                                 1,    2.5,   5,    10,  30,   60,  300, 900, 3600};
// 1 is a row checked exactly on time.
inline const Buckets kFreshnessBuckets{.5, .9, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10};
// A page that is never quiet takes 20 s at the defaults, one that hangs 30.
inline const Buckets kRenderBuckets{.25, .5, 1, 2, 3, 5, 10, 20, 30, 60};
inline const Buckets kAttemptBuckets{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
inline const Buckets kHttpBuckets{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
inline const Buckets kQueryBuckets{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30};

inline constexpr std::array kTiers{domain::Tier::kMicro, domain::Tier::kLow, domain::Tier::kMedium,
                                   domain::Tier::kHigh, domain::Tier::kXhigh};
static_assert(kTiers.size() == domain::kTierCount);

inline constexpr std::array kLanes{domain::Lane::kTransform, domain::Lane::kLookup,
                                   domain::Lane::kSmtp, domain::Lane::kResearch};
static_assert(kLanes.size() == domain::kLaneCount);
inline constexpr std::array kJobKinds{
    domain::JobKind::kFindEmail,       domain::JobKind::kFindEmailBulk,
    domain::JobKind::kReverseEmail,    domain::JobKind::kVerifyAge,
    domain::JobKind::kInvestigation,   domain::JobKind::kWorkflow,
    domain::JobKind::kReverseEmailBulk};
static_assert(kJobKinds.size() == domain::kJobKindCount);

inline constexpr std::array kChunkStates{"due", "leased", "waiting"};
inline constexpr std::array kDeliveryOutcomes{"delivered", "retried", "dead"};
inline constexpr std::array kMailOutcomes{"sent", "bounced", "refused", "unreachable"};

template <typename Enum>
std::size_t Index(Enum value) {
  return static_cast<std::size_t>(value);
}

struct Metrics::Impl {
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  template <typename Metric>
  using Family = prometheus::Family<Metric>;
  using Registry = prometheus::Registry;

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
  Counter& rendered_bytes =
      Counters("vedette_rendered_bytes_total", "Bytes that pages in the browser fetched and sent.")
          .Add({});
  Counter& rendered_refused =
      Counters("vedette_rendered_refused_total",
               "Connections that pages in the browser tried and may not have.")
          .Add({});
  Histogram& rendered_page_duration =
      Histograms("vedette_rendered_page_seconds", "Time that a page had in the browser.")
          .Add({}, kRenderBuckets);
  Counter& browser_starts =
      Counters("vedette_browser_starts_total", "Browsers that were started.").Add({});
  Counter& browser_deaths =
      Counters("vedette_browser_deaths_total", "Browsers that ended, and nobody had ended them.")
          .Add({});
  Gauge& browser_memory =
      Gauges("vedette_browser_memory_bytes", "Memory of the browser, as of its last page.").Add({});
  Gauge& browser_missing = Gauges("vedette_browser_missing",
                                  "1 where a tier has pages rendered and this process cannot.")
                               .Add({});
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
  Gauge& audit_oldest_unsealed =
      Gauges("vedette_audit_oldest_unsealed_seconds",
             "Age of the oldest entry of the audit that has no place in its chain yet.")
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
  Series<Counter> mails{&Counters("vedette_mails_total",
                                  "Attempts at channels' e-mail, by what the relay made of it."),
                        {"outcome"}};
  Series<Gauge> chunks{&Gauges("vedette_chunks", "Chunks in the database."), {"state"}};
  Series<Gauge> deliveries{
      &Gauges("vedette_deliveries",
              "Deliveries in the database, and of the pending ones those that are due."),
      {"state"}};
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
      &Counters(
          "vedette_db_errors_total",
          "Database statements that failed, by name; connect: connections that were not made."),
      {"query"}};
  Gauge& waits =
      Gauges("vedette_waits", "Requests that wait for the end of a job right now.").Add({});
  Gauge& waits_max =
      Gauges("vedette_waits_max", "Requests that may wait for the end of a job at once.").Add({});
  Series<Counter> waits_ended{
      &Counters("vedette_waits_total",
                "Requests for the end of a job, by what became of their wait."),
      {"outcome"}};
  Series<Counter> lookups{&Counters("vedette_lookups_total", "Rows that were looked up."),
                          {"kind", "outcome"}};
  Series<Histogram> lookup_duration{
      &Histograms("vedette_lookup_seconds", "Duration of a row's lookup, all providers included."),
      {"kind"},
      kCheckBuckets};
  Series<Counter> suppressed{&Counters("vedette_suppressed_total",
                                       "Leads and addresses that are on the suppression list."),
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
  Series<Counter> rendered_pages{
      &Counters("vedette_rendered_pages_total", "Pages of the browser that have ended."),
      {"outcome"}};
  Series<Gauge> browser_pages{&Gauges("vedette_browser_pages", "Pages of the browser."), {"state"}};
  Series<Gauge> service_limit{
      &Gauges("vedette_service_requests_max",
              "Requests to a service of the operator's that this process has under way at most."),
      {"service"}};
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

}  // namespace vedette::metrics
