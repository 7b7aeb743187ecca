#pragma once

#include <vector>

#include "base/clock.h"
#include "domain/job.h"
#include "store/jobs/end_sql.h"
#include "store/jobs/record.h"
#include "store/sql.h"

// Internal to store/jobs: the monitors that blocks of runs make. The run is locked.
//
//   (none) --first part--> starting --block completed--> active, or failed where no row came
//                             \------run ended before--> failed, by the keeper where a process of a
//                                                         version without such monitors ended it
namespace vedette::store {

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
