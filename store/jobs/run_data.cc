#include "store/jobs/run_data.h"

#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/job.h"
#include "store/jobs/end_each.h"
#include "store/sql.h"

namespace vedette::store {

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
