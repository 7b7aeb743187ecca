#include "store/jobs/end.h"

#include <map>
#include <utility>

#include "base/assert.h"
#include "domain/job/job.h"
#include "store/audit.h"
#include "store/jobs/locked_job_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// What is told of the ends of jobs, as job_delivery_insert takes it.
using Callbacks =
    Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"endpoint_id", base::Uuid>,
         Column<"event_group_id", base::Uuid>, Column<"type", domain::NotificationType>,
         Column<"job_id", base::Uuid>, Column<"job_status", domain::JobStatus>,
         Column<"block", std::optional<int>>>;

// Adds the callbacks of the blocks of runs that are to tell of this end.
void AddRunCallbacks(Transaction& tx, const base::Clock& clock,
                     const std::vector<EndingJob>& endings, Callbacks* callbacks) {
  std::map<base::Uuid, const LockedJob*> runs;
  Rows<Column<"job_id", base::Uuid>, Column<"status", domain::JobStatus>> asked;
  for (const EndingJob& ending : endings) {
    if (ending.job->kind != domain::JobKind::kWorkflow || !ending.job->blocks_tell) continue;
    runs.emplace(ending.job->id, ending.job);
    asked.Add(ending.job->id, ending.job->status);
  }
  if (asked.empty()) return;
  for (const auto& row : tx.Exec<"run_webhooks">(asked)) {
    base::Uuid job_id;
    int block = 0;
    std::string block_id;
    base::Uuid endpoint_id;
    Columns(row).Into("job_id"_a = &job_id, "block"_a = &block, "block_id"_a = &block_id,
                      "endpoint_id"_a = &endpoint_id);
    const LockedJob& run = *runs.at(job_id);
    callbacks->Add(base::Uuid::V7(clock), run.account.org_id, endpoint_id,
                   domain::RunEventId(run.id, run.status, block_id),
                   domain::NotificationType::kOutgoingWebhook, run.id, run.status, block);
  }
}

// One callback for every end, whatever the end. The job's lock makes it one. Returns whether there
// is one.
bool InsertCallbacks(Transaction& tx, const base::Clock& clock,
                     const std::vector<EndingJob>& endings) {
  Callbacks callbacks;
  AddRunCallbacks(tx, clock, endings, &callbacks);
  for (const EndingJob& ending : endings) {
    const LockedJob& job = *ending.job;
    const auto type = domain::CallbackType(job.kind);
    if (job.kind == domain::JobKind::kWorkflow || !job.endpoint_id || !type) continue;
    callbacks.Add(base::Uuid::V7(clock), job.account.org_id, *job.endpoint_id,
                  domain::JobEventId(job.id, job.kind), *type, job.id, job.status, std::nullopt);
  }
  if (callbacks.empty()) return false;
  tx.Exec<"job_delivery_insert">(callbacks);
  return true;
}

// A completed job has no chunk left, but for an investigation that has found as much as it may.
void TakeChunks(Transaction& tx, const std::vector<EndingJob>& endings) {
  std::vector<base::Uuid> jobs;
  for (const EndingJob& ending : endings) {
    if (ending.ending.status != domain::JobStatus::kCompleted ||
        ending.job->kind == domain::JobKind::kInvestigation) {
      jobs.push_back(ending.job->id);
    }
  }
  if (!jobs.empty()) tx.Exec<"job_chunks_take">("job_ids"_a = jobs);
}

void WriteEnds(Transaction& tx, const std::vector<EndingJob>& endings) {
  Rows<Column<"id", base::Uuid>, Column<"status", domain::JobStatus>,
       Column<"status_reason", std::optional<std::string>>,
       Column<"error", std::optional<std::string>>, Column<"amount_mc", std::int64_t>,
       Column<"rows", int>>
      rows;
  std::map<base::Uuid, LockedJob*> jobs;
  for (const EndingJob& ending : endings) {
    LockedJob* job = ending.job;
    job->status = ending.ending.status;
    job->status_reason = ending.ending.reason;
    jobs.emplace(job->id, job);
    rows.Add(job->id, job->status, job->status_reason, ending.ending.error, ending.charge.amount_mc,
             ending.charge.rows);
  }
  for (const auto& row : tx.Exec<"job_finish">(rows)) {
    base::Uuid id;
    std::chrono::microseconds took{};
    Columns(row).Into("id"_a = &id, "took"_a = &took);
    jobs.at(id)->took = took;
  }
}

void ReturnReserved(Transaction& tx, const std::vector<EndingJob>& endings, Balances* balances) {
  if (!balances->locked()) {
    for (const EndingJob& ending : endings) {
      if (ending.job->reserved_mc > 0) balances->Want(ending.job->account);
    }
    if (balances->empty()) return;
    balances->Lock(tx);
  }
  for (const EndingJob& ending : endings) {
    LockedJob& job = *ending.job;
    if (job.reserved_mc > 0) balances->Return(job.account, std::exchange(job.reserved_mc, 0));
  }
}

}  // namespace

JobEnding OverdueEnding() {
  return {domain::JobStatus::kTimedOut, std::string(domain::kReasonDeadlineExceeded),
          "The job did not end before its deadline."};
}

LockedJob ReadLockedJob(Columns& in) {
  LockedJob job;
  in.Into("id"_a = &job.id, "org_id"_a = &job.account.org_id, "team_id"_a = &job.account.team_id,
          "kind"_a = &job.kind, "status"_a = &job.status, "status_reason"_a = &job.status_reason,
          "waited"_a = &job.waited, "month"_a = &job.account.month,
          "reserved_mc"_a = &job.reserved_mc, "endpoint_id"_a = &job.endpoint_id,
          "blocks_tell"_a = &job.blocks_tell);
  return job;
}

std::vector<Signal> EndLockedJobs(Transaction& tx, const base::Clock& clock,
                                  const std::vector<EndingJob>& endings, Balances* balances) {
  if (endings.empty()) return {};
  for (const EndingJob& ending : endings) {
    base::Assert(!domain::IsEnd(ending.job->status), "a job ends once");
    base::Assert(domain::IsEnd(ending.ending.status), "a job is ended with an end");
  }
  TakeChunks(tx, endings);
  WriteEnds(tx, endings);
  bool waited = false;
  for (const EndingJob& ending : endings) {
    const LockedJob& job = *ending.job;
    waited = waited || job.waited;
    if (job.kind == domain::JobKind::kWorkflow && job.status != domain::JobStatus::kCompleted) {
      FailMonitors(tx, job);
    }
  }
  ReturnReserved(tx, endings, balances);
  std::vector<Signal> raise;
  if (InsertCallbacks(tx, clock, endings)) raise.push_back(Signal::kDelivery);
  if (waited) raise.push_back(Signal::kJob);
  return raise;
}

std::optional<JobEndOutcome> EndJob(Session& session, const base::Clock& clock, const Scope& scope,
                                    const base::Uuid& job_id, const JobEnding& ending,
                                    const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<JobEndOutcome> {
    const auto found = tx.Exec<"job_end_lock">("job_id"_a = job_id, "org_id"_a = scope.org_id,
                                               "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    Columns in(found[0]);
    LockedJob job = ReadLockedJob(in);
    JobEndOutcome outcome;
    if (!domain::IsEnd(job.status)) {
      Balances balances;
      outcome.raise = EndLockedJobs(tx, clock, {{&job, ending}}, &balances);
      if (balances.locked()) balances.Write(tx);
      outcome.ended = JobEnded{job.kind, job.status, job.took};
      if (audit) {
        AuditEntry entry = *audit;
        entry.org_id = job.account.org_id;
        InsertAudit(tx, clock, entry);
      }
    }
    outcome.status = job.status;
    outcome.status_reason = job.status_reason;
    return outcome;
  });
}

}  // namespace vedette::store
