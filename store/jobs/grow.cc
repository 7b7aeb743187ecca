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
  const auto locked = tx.Exec("job_end_lock", run, std::nullopt, std::nullopt);
  if (locked.empty()) return false;
  Columns in(locked[0]);
  if (domain::IsEnd(ReadLockedJob(in).status)) return false;
  tx.Exec("job_chunks_lock", std::vector{run});
  int part_rows = 0;
  int from = 0;
  int parts = 0;
  int bytes_max = 0;
  Columns(tx.Exec("run_grow_from", run).at(0)).Into(&part_rows, &from, &parts, &bytes_max);
  const int times = std::min(rows / part_rows, kGrownPartBytesMax / std::max(bytes_max, 1));
  if (times < 2 || parts < 2) return false;
  tx.Exec("run_grow", run, from, times, rules.window_rows, domain::kPartWindowMin);
  return !tx.Exec("parts_open", std::vector{run}, std::vector{0}).empty();
}

}  // namespace

JobKeeperRun GrowParts(Session& session, const GrowRules& rules) {
  std::vector<std::pair<base::Uuid, int>> due;
  Read(session, [&](Transaction& tx) {
    const auto target = std::chrono::microseconds(rules.part_target).count();
    due.clear();
    for (const auto& row : tx.Exec("run_growing", target, domain::kPaceGuessRows, kGrowBatch,
                                   kGrowPartsLeftMin, kJobKeeperLooksAtMax)) {
      auto& [run, rows] = due.emplace_back();
      Columns(row).Into(&run, &rows);
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
