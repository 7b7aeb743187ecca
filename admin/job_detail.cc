#include "admin/job_detail.h"

#include <string>
#include <utility>
#include <vector>

#include "domain/job.h"
#include "store/jobs/read.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryJob{};

// Of one job: the first chunks by block and part, the newest deliveries of each kind of state.
constexpr int kJobChunksShown = 200;
constexpr int kJobDeliveriesShown = 100;

// What is not delivered yet, or never will be, before what is.
std::vector<store::DeliveryView> DeliveriesOf(store::Session& session, const base::Uuid& job_id) {
  store::DeliveryQuery query;
  query.job_id = job_id;
  query.limit = kJobDeliveriesShown;
  auto deliveries = store::ListDeliveries(session, query);
  query.state = domain::DeliveryState::kDelivered;
  const auto delivered = store::ListDeliveries(session, query);
  deliveries.insert(deliveries.end(), delivered.begin(), delivered.end());
  return deliveries;
}

}  // namespace

std::optional<JobDetail> ReadJobDetail(store::Session& session, const base::Uuid& id) {
  auto job = store::GetJob(session, kEveryJob, id);
  if (!job) return std::nullopt;
  return JobDetail{std::move(*job), store::ReadJobBlocks(session, id),
                   store::ReadJobChunks(session, id, kJobChunksShown), DeliveriesOf(session, id)};
}

std::optional<store::JobEndOutcome> Terminate(const Parts& parts, store::Session& session,
                                              const base::Uuid& id,
                                              const store::AuditEntry& audit) {
  auto outcome = store::EndJob(
      session, parts.clock, kEveryJob, id,
      {domain::JobStatus::kTerminated, std::string(domain::kReasonCancelledByOperator),
       "The operator ended the job."},
      audit);
  if (!outcome) return std::nullopt;
  for (const store::Signal signal : outcome->raise) parts.signals.Raise(signal);
  if (const auto& ended = outcome->ended) {
    parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
  return outcome;
}

}  // namespace vedette::admin
