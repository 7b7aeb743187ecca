#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "store/balances.h"
#include "store/jobs/end.h"
#include "store/signals.h"
#include "store/sql.h"

// Internal to store/: the end of a job inside the caller's transaction.
namespace vedette::store {

// A job that the transaction has locked. Its status and its reservation follow what the transaction
// does to it.
struct LockedJob {
  base::Uuid id;
  Account account;
  domain::JobKind kind = domain::JobKind::kFindEmail;
  domain::JobStatus status = domain::JobStatus::kQueued;
  std::optional<std::string> status_reason;
  bool waited = false;
  std::int64_t reserved_mc = 0;
  std::optional<base::Uuid> endpoint_id;  // of its callback
  bool blocks_tell = false;               // a block of it has a receiver
  std::chrono::microseconds took{};       // from its start to its end, once it has ended
};

// What the transaction charges the job, taken from its reservation already.
struct JobCharge {
  std::int64_t amount_mc = 0;
  int rows = 0;
};

// Reads the first fields of job_lock and job_end_lock.
LockedJob ReadLockedJob(Columns& in);

// A locked job that is open, and is to end so. What is charged is written with the end.
struct EndingJob {
  LockedJob* job = nullptr;
  JobEnding ending;
  JobCharge charge{};
};

// Ends the jobs: see store/jobs/end.h. Locks the accounts to which something returns, unless the
// caller has locked these and others. Returns what is to be raised after it. The caller writes the
// balances where they are locked.
std::vector<Signal> EndLockedJobs(Transaction& tx, const base::Clock& clock,
                                  const std::vector<EndingJob>& endings, Balances* balances);

}  // namespace vedette::store
