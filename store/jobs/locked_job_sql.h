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
#include "store/jobs/record.h"
#include "store/signals.h"
#include "store/sql.h"

// Internal to store/: what a transaction does to a job that it has locked: its end (end.cc), and
// what its records leave beside rows (record_effects.cc).
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

// What the records of an investigation do beside those of other jobs.
struct RecordedFindings {
  // The records as they were given, but a part that ended has the entities that the next block
  // looks at in place of what its rows found.
  std::vector<JobChunkRecord> records;
  // Everything that may be found is.
  std::optional<JobEnding> ending;
};

// Keeps the findings of these rows whose ids are new, up to the investigation's findings_max, and
// numbers them without gaps. Rows that an earlier record had are found out by the ids of their
// findings, so that each is kept once. Locks the investigation, of which the job is locked already.
RecordedFindings RecordFindings(Transaction& tx, const base::Uuid& job_id,
                                const std::vector<const JobChunkRecord*>& records);

// The monitors that blocks of runs make. The run is locked.
//
//   (none) --first part--> starting --block completed--> active, or failed where no row came
//                             \------run ended before--> failed, by the keeper where a process of a
//                                                         version without such monitors ended it

// Adds the rows that these records have for monitors, in the order of the records; the first part
// of a block makes its monitor.
void AddMonitorRows(Transaction& tx, const base::Clock& clock, const LockedJob& job,
                    const std::vector<const JobChunkRecord*>& records);

// The monitors of these records whose blocks are `completed` begin to be checked. Whether one did:
// the caller raises Signal::kDue.
bool ActivateMonitors(Transaction& tx, const LockedJob& job,
                      const std::vector<const JobChunkRecord*>& records,
                      const std::vector<int>& completed);

// The run has ended otherwise than completed: its monitors that are not complete fail.
void FailMonitors(Transaction& tx, const LockedJob& job);

}  // namespace vedette::store
