#include "store/jobs/end.h"

#include <utility>

#include "base/assert.h"
#include "domain/ids.h"
#include "store/audit_sql.h"
#include "store/jobs/end_sql.h"
#include "store/jobs/monitor_record.h"

namespace vedette::store {
namespace {

// Of a run, each of its blocks that are to tell of this end does.
bool InsertRunCallbacks(Transaction& tx, const base::Clock& clock, const LockedJob& job) {
  const auto blocks = tx.Exec("run_webhooks", job.id, job.status);
  for (const auto& row : blocks) {
    int block = 0;
    std::string block_id;
    base::Uuid endpoint_id;
    Columns(row).Into(&block, &block_id, &endpoint_id);
    tx.Exec("job_delivery_insert", base::Uuid::V7(clock), job.payer.org_id, endpoint_id,
            domain::RunEventId(job.id, job.status, block_id),
            domain::NotificationType::kOutgoingWebhook, job.id, job.status, block);
  }
  return !blocks.empty();
}

// One callback for every end, whatever the end. The job's lock makes it one.
bool InsertCallback(Transaction& tx, const base::Clock& clock, const LockedJob& job) {
  if (job.kind == domain::JobKind::kWorkflow) return InsertRunCallbacks(tx, clock, job);
  const auto type = domain::CallbackType(job.kind);
  if (!job.endpoint_id || !type) return false;
  tx.Exec("job_delivery_insert", base::Uuid::V7(clock), job.payer.org_id, *job.endpoint_id,
          domain::JobEventId(job.id, job.kind), *type, job.id, job.status, std::nullopt);
  return true;
}

}  // namespace

LockedJob ReadLockedJob(Columns& in) {
  LockedJob job;
  in.Into(&job.id, &job.payer.org_id, &job.payer.team_id, &job.kind, &job.status,
          &job.status_reason, &job.waited, &job.payer.month, &job.reserved_mc, &job.endpoint_id);
  return job;
}

std::vector<Signal> EndLockedJob(Transaction& tx, const base::Clock& clock, const JobEnding& ending,
                                 LockedJob* job, JobPurse* purse, const JobCharge& charge) {
  base::Assert(!domain::IsEnd(job->status), "a job ends once");
  base::Assert(domain::IsEnd(ending.status), "a job is ended with an end");
  // A completed job has no chunk left, but for an investigation that has found as much as it may.
  const bool may_have_chunks = ending.status != domain::JobStatus::kCompleted ||
                               job->kind == domain::JobKind::kInvestigation;
  if (may_have_chunks) tx.Exec("job_chunks_take", job->id);
  job->status = ending.status;
  job->status_reason = ending.reason;
  Columns(tx.Exec("job_finish", job->id, ending.status, ending.reason, ending.error,
                  charge.amount_mc, charge.rows)
              .at(0))
      .Into(&job->took);
  if (job->kind == domain::JobKind::kWorkflow && ending.status != domain::JobStatus::kCompleted) {
    FailMonitors(tx, *job);
  }
  if (job->reserved_mc > 0) purse->Return(std::exchange(job->reserved_mc, 0));
  std::vector<Signal> raise;
  if (InsertCallback(tx, clock, *job)) raise.push_back(Signal::kDelivery);
  if (job->waited) raise.push_back(Signal::kJob);
  return raise;
}

std::optional<JobEndOutcome> EndJob(Session& session, const base::Clock& clock, const Scope& scope,
                                    const base::Uuid& job_id, const JobEnding& ending,
                                    const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<JobEndOutcome> {
    const auto found = tx.Exec("job_end_lock", job_id, scope.org_id, scope.team_id);
    if (found.empty()) return std::nullopt;
    Columns in(found[0]);
    LockedJob job = ReadLockedJob(in);
    JobEndOutcome outcome;
    if (!domain::IsEnd(job.status)) {
      JobPurse purse(tx, job.payer);
      outcome.raise = EndLockedJob(tx, clock, ending, &job, &purse);
      purse.Write();
      outcome.ended = JobEnded{job.kind, job.status, job.took};
      if (audit) {
        AuditEntry entry = *audit;
        entry.org_id = job.payer.org_id;
        InsertAudit(tx, clock, entry);
      }
    }
    outcome.status = job.status;
    outcome.status_reason = job.status_reason;
    return outcome;
  });
}

}  // namespace vedette::store
