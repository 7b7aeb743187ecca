#include "metrics/metrics.h"
#include "metrics/metrics_impl.h"

// The metrics of jobs and of runs of workflows.
namespace vedette::metrics {

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

}  // namespace vedette::metrics
