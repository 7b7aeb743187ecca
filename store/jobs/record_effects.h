#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "domain/job/job.h"
#include "store/jobs/end_sql.h"
#include "store/jobs/record.h"
#include "store/sql.h"

// Internal to store/jobs: what the records of an investigation do beside those of other jobs.
namespace vedette::store {

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

// Internal to store/jobs: the monitors that blocks of runs make. The run is locked.
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
