#include "store/jobs/retire.h"

#include <string>
#include <vector>

#include "base/uuid.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Rows of the default partition that one call deletes.
constexpr int kDefaultRowsMax = 1000;

void DropOldRows(Transaction& tx, std::chrono::hours run_data) {
  for (const auto& day :
       ReadEach<std::string>(tx.Exec<"job_part_days_old">("kept_h"_a = run_data.count()))) {
    tx.DropTable(day);
    tx.Exec<"run_data_drop_day">("day"_a = day);
  }
  for (const auto& day :
       ReadEach<std::string>(tx.Exec<"run_key_days_old">("kept_h"_a = run_data.count()))) {
    tx.DropTable(day);
  }
  tx.Exec<"job_part_default_expire">("kept_h"_a = run_data.count(), "limit"_a = kDefaultRowsMax);
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

int RetireJobs(Session& session, const JobRetention& retention) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return 0;
    DropOldRows(tx, retention.run_data);
    return ForgetJobs(tx, retention);
  });
}

}  // namespace vedette::store
