#include "store/jobs/keeper.h"

#include <utility>

#include "store/jobs/end.h"
#include "store/jobs/end_each.h"
#include "store/jobs/end_sql.h"
#include "store/jobs/monitor_record.h"
#include "store/jobs/read.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
void EndEach(Session& session, const base::Clock& clock, const std::vector<base::Uuid>& job_ids,
             const JobEnding& ending, JobKeeperRun* run) {
  for (const base::Uuid& job_id : job_ids) {
    try {
      const auto outcome = EndJob(session, clock, {}, job_id, ending);
      if (!outcome) continue;
      ++run->ended;
      if (outcome->ended) run->jobs.push_back(*outcome->ended);
      run->raise.insert(run->raise.end(), outcome->raise.begin(), outcome->raise.end());
    } catch (const std::exception&) {
      if (session.impl().connection == nullptr) throw;
      run->failures.push_back(CurrentFailure());
    }
  }
}

JobKeeperRun EndOverdueJobs(Session& session, const base::Clock& clock) {
  const auto overdue = Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"jobs_overdue">("limit"_a = kJobKeeperBatch));
  });
  JobKeeperRun run;
  EndEach(session, clock, overdue, OverdueEnding(), &run);
  return run;
}

JobKeeperRun EndStalledJobs(Session& session, const base::Clock& clock, StalledCursor* cursor) {
  StalledCursor next;
  const auto stalled = Read(session, [&](Transaction& tx) {
    std::vector<base::Uuid> ids;
    const auto rows = tx.Exec<"jobs_stalled">(
        "deadline_at"_a = cursor->deadline_at, "job_id"_a = cursor->job_id,
        "limit"_a = kJobKeeperBatch, "stalled_after_s"_a = domain::kStalledAfter.count());
    StalledCursor at;
    for (const auto& row : rows) {
      bool is_stalled = false;
      Columns(row).Into("deadline_at"_a = &at.deadline_at, "id"_a = &at.job_id,
                        "is_stalled"_a = &is_stalled);
      if (is_stalled) ids.push_back(at.job_id);
    }
    // After the last one the search begins again.
    next = static_cast<int>(rows.size()) == kJobKeeperBatch ? at : StalledCursor{};
    return ids;
  });
  *cursor = next;
  JobKeeperRun run;
  EndEach(session, clock, stalled,
          {domain::JobStatus::kFailed, std::string(domain::kReasonStalled),
           "Nobody works on the job any more."},
          &run);
  return run;
}

int FailMonitorsLeft(Session& session) {
  const auto runs = Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"run_monitors_left">("limit"_a = kJobKeeperBatch));
  });
  for (const base::Uuid& run_id : runs) {
    InTransaction(session, [&](Transaction& tx) {
      const auto found = tx.Exec<"job_end_lock">("job_id"_a = run_id, "org_id"_a = std::nullopt,
                                                 "team_id"_a = std::nullopt);
      if (found.empty()) return;  // just forgotten
      Columns in(found[0]);
      FailMonitors(tx, ReadLockedJob(in));
    });
  }
  return static_cast<int>(runs.size());
}

int MoveUnservedLane(Session& session, std::chrono::milliseconds wait) {
  if (ReadServedLanes(session).contains(domain::Lane::kSmtp)) return 0;
  return InTransaction(session, [&](Transaction& tx) {
    return static_cast<int>(tx.Exec<"job_lane_move">("from_lane"_a = domain::Lane::kSmtp,
                                                     "to_lane"_a = domain::Lane::kLookup,
                                                     "wait_ms"_a = wait.count(),
                                                     "limit"_a = kJobKeeperBatch)
                                .affected_rows());
  });
}

}  // namespace vedette::store
