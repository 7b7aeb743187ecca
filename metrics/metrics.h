#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "domain/names.h"
#include "domain/outcome.h"

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
  // vedette_ticks_total{trigger}
  void AddTicks(domain::TickTrigger trigger, std::int64_t n);

  // vedette_deliveries_total{outcome}: delivered, retried, dead
  void AddDeliveries(std::string_view outcome, std::int64_t n);
  // vedette_delivery_attempt_seconds
  void ObserveDeliveryAttempt(std::chrono::microseconds duration);

  // vedette_chunks{state}: due, leased, waiting; vedette_chunk_oldest_due_seconds;
  // vedette_deliveries{state}: pending, dead; vedette_delivery_oldest_pending_seconds;
  // vedette_receivers_failing, for 48 hours on end. Set by maintenance, from the database; a
  // process without the role scheduler leaves them at 0.
  void SetChunks(std::string_view state, std::int64_t n);
  void SetChunkOldestDue(std::chrono::microseconds age);
  void SetDeliveries(std::string_view state, std::int64_t n);
  void SetDeliveryOldestPending(std::chrono::microseconds age);
  void SetReceiversFailing(std::int64_t n);

  // vedette_maintenance_failures_total{task}: runs of a task of store/maintenance.h that failed
  void AddMaintenanceFailures(std::string_view task, std::int64_t n);

  // vedette_http_requests_total{route,code}, vedette_http_request_seconds{route}. `route` is the
  // route's pattern with its port before it ("api /monitors/{monitor_id}"), never the path.
  void ObserveHttpRequest(std::string_view route, int code, std::chrono::microseconds duration);

  // vedette_db_query_seconds{query}: the query's name; vedette_db_errors_total{query}
  void ObserveQuery(std::string_view query, std::chrono::microseconds duration, bool ok);

  // The text exposition format.
  std::string Expose() const;

  // What the console draws, counted since the start, as JSON: {"checks": {outcome: n},
  // "deliveries": {outcome: n}, "lag": {"le_s": [bound], "counts": [ticks in that bucket, the last
  // beyond every bound]}}.
  std::string Summary() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::metrics
