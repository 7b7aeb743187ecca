#include "store/jobs/keeper.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "domain/job/block_progress.h"
#include "domain/job/job.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/end.h"
#include "store/jobs/locked_job_sql.h"
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

namespace {

// Whether it did, and opened parts. A run that has just ended, or whose rows are too large, stays.
bool Grow(Transaction& tx, const base::Uuid& run, int rows, const GrowRules& rules) {
  const auto locked = tx.Exec<"job_end_lock">("job_id"_a = run, "org_id"_a = std::nullopt,
                                              "team_id"_a = std::nullopt);
  if (locked.empty()) return false;
  Columns in(locked[0]);
  if (domain::IsEnd(ReadLockedJob(in).status)) return false;
  tx.Exec<"job_chunks_lock">("job_ids"_a = std::vector{run});
  int part_rows = 0;
  int from = 0;
  int parts = 0;
  int bytes_max = 0;
  Columns(tx.Exec<"run_grow_from">("run_id"_a = run).at(0))
      .Into("part_rows"_a = &part_rows, "part"_a = &from, "parts"_a = &parts,
            "bytes_max"_a = &bytes_max);
  const int times = std::min(rows / part_rows, kGrownPartBytesMax / std::max(bytes_max, 1));
  if (times < 2 || parts < 2) return false;
  tx.Exec<"run_grow">("run_id"_a = run, "from"_a = from, "times"_a = times,
                      "window_rows"_a = rules.window_rows,
                      "part_window_min"_a = domain::kPartWindowMin);
  return !tx.Exec<"parts_open">("job_id"_a = std::vector{run}, "block"_a = std::vector{0}).empty();
}

}  // namespace

JobKeeperRun GrowParts(Session& session, const GrowRules& rules) {
  std::vector<std::pair<base::Uuid, int>> due;
  Read(session, [&](Transaction& tx) {
    const auto target = std::chrono::microseconds(rules.part_target).count();
    due.clear();
    for (const auto& row :
         tx.Exec<"run_growing">("target"_a = target, "pace_guess_rows"_a = domain::kPaceGuessRows,
         "limit"_a = kGrowBatch, "grow_parts_left_min"_a = kGrowPartsLeftMin,
         "jobs_max"_a = kJobKeeperLooksAtMax)) {
      auto& [run, rows] = due.emplace_back();
      Columns(row).Into("id"_a = &run, "rows"_a = &rows);
    }
    return 0;
  });
  JobKeeperRun done;
  for (const auto& [run, rows] : due) {
    try {
      const bool opened = InTransaction(
          session, [&, id = run, n = rows](Transaction& tx) { return Grow(tx, id, n, rules); });
      if (opened) done.raise.push_back(Signal::kJobChunk);
    } catch (const std::exception&) {
      if (session.impl().connection == nullptr) throw;
      done.failures.push_back(CurrentFailure());
    }
  }
  return done;
}

namespace {

template <NameText statement>
std::vector<std::string> DaysOld(Session& session, std::chrono::hours run_data) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<std::string>(tx.Exec<statement>("kept_h"_a = run_data.count()));
  });
}

// What organisations are told of their room goes with the day, and before it: nothing is done while
// the table is locked.
void DropOldDays(Session& session, std::chrono::hours run_data, TablesInUse* in_use) {
  for (const auto& day : DaysOld<"job_part_days_old">(session, run_data)) {
    const auto give_room_back = [&](Transaction& tx) {
      tx.Exec<"run_data_drop_day">("day"_a = day);
    };
    if (!DropPartition(session, "job_part", day, in_use, give_room_back)) break;
  }
  for (const auto& day : DaysOld<"run_key_days_old">(session, run_data)) {
    if (!DropPartition(session, "run_key", day, in_use)) break;
  }
}

int ForgetJobs(Transaction& tx, const JobRetention& retention) {
  const auto ids = ReadEach<base::Uuid>(tx.Exec<"jobs_retire">("jobs_h"_a = retention.jobs.count(),
                                                               "runs_h"_a = retention.runs.count(),
                                                               "limit"_a = kJobsRetiredMax));
  if (ids.empty()) return 0;
  tx.Exec<"job_parts_forget">("job_ids"_a = ids);
  tx.Exec<"run_keys_forget">("run_ids"_a = ids);
  tx.Exec<"job_blocks_forget">("job_ids"_a = ids);
  tx.Exec<"jobs_forget">("ids"_a = ids);
  return static_cast<int>(ids.size());
}

}  // namespace

std::optional<int> RetireJobs(Session& session, const JobRetention& retention) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<int> {
    if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return std::nullopt;
    return ForgetJobs(tx, retention);
  });
}

int DropOldRows(Session& session, std::chrono::hours run_data, TablesInUse* in_use) {
  DropOldDays(session, run_data, in_use);
  return InTransaction(session, [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return 0;
    return ReadOne<int>(
        tx.Exec<"job_part_default_expire">("kept_h"_a = run_data.count(), "limit"_a = kOldRowsMax));
  });
}

JobKeeperRun EndRunsOverLimit(Session& session, const base::Clock& clock, std::int64_t bytes_max) {
  const auto over = Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"run_data_over">("bytes_max"_a = bytes_max,
                                                         "limit"_a = kJobKeeperBatch,
                                                         "jobs_max"_a = kJobKeeperLooksAtMax));
  });
  JobKeeperRun run;
  EndEach(
      session, clock, over,
      {domain::JobStatus::kFailed, std::string(domain::kReasonRunDataLimitReached),
       "The rows of your organisation's runs take all the room that they may. They go some days "
       "after their run; a run that makes fewer or smaller rows needs less."},
      &run);
  return run;
}

int DropUnreadRows(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    const auto run = ReadFirst<base::Uuid>(tx.Exec<"run_data_unread_next">());
    if (!run) return 0;
    const auto dropped = ReadOne<int>(
        tx.Exec<"run_data_unread_drop">("run_id"_a = *run, "limit"_a = kUnreadPartsMax));
    if (dropped < kUnreadPartsMax) {
      tx.Exec<"run_keys_forget">("run_ids"_a = std::vector{*run});
      tx.Exec<"run_data_unread_done">("run_id"_a = *run);
    }
    return kUnreadPartsMax;
  });
}

}  // namespace vedette::store
