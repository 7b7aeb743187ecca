#include "store/jobs/grow.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "domain/job.h"
#include "domain/workflow/pace.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/end_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
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

}  // namespace vedette::store
