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
  for (const char* days : {"job_part_days_old", "run_key_days_old"}) {
    for (const auto& day : ReadEach<std::string>(tx.Exec(days, run_data.count()))) {
      tx.DropTable(day);
      if (day.starts_with("job_part")) tx.Exec("run_data_drop_day", day);
    }
  }
  tx.Exec("job_part_default_expire", run_data.count(), kDefaultRowsMax);
}

int ForgetJobs(Transaction& tx, const JobRetention& retention) {
  const auto ids = ReadEach<base::Uuid>(
      tx.Exec("jobs_retire", retention.jobs.count(), retention.runs.count(), kJobsRetiredMax));
  if (ids.empty()) return 0;
  tx.Exec("job_parts_forget", ids);
  tx.Exec("run_keys_forget", ids);
  tx.Exec("job_blocks_forget", ids);
  tx.Exec("jobs_forget", ids);
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
