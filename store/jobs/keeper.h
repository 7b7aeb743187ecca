#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/async.h"
#include "store/jobs/end.h"
#include "store/session.h"
#include "store/signals.h"

// What the fleet does for jobs that nobody looks after: deadlines, stalled jobs, lanes that nobody
// serves. Any number of processes may run it at once; each job is ended once. Every call does a
// bounded piece of work; the rest waits for the next.
namespace vedette::store {

struct JobKeeperRun {
  int ended = 0;               // also by another process, meanwhile
  std::vector<JobEnded> jobs;  // that this call ended
  // Of jobs that could not be ended; the others were. They are tried again by the next run.
  std::vector<Failure> failures;
  std::vector<Signal> raise;  // the caller raises them
};

// Jobs looked at or ended by one call.
inline constexpr int kJobKeeperBatch = 200;
// Open jobs among which a call looks for runs: those whose deadlines come first.
inline constexpr int kJobKeeperLooksAtMax = 100'000;

// Ends jobs whose deadline has come as timed_out, but for those that somebody has locked: their
// records end them (store/jobs/record.h). Throws Unavailable where the database is gone.
JobKeeperRun EndOverdueJobs(Session& session, const base::Clock& clock);

// Where the search for stalled jobs goes on: behind this job.
struct StalledCursor {
  std::optional<base::Timestamp> deadline_at;  // empty: from the start
  base::Uuid job_id;
};
// Ends open jobs that have no chunk and whose blocks have not moved for domain::kStalledAfter as
// failed: a bug, or a part that was deleted. Looks at the next kJobKeeperBatch open jobs.
JobKeeperRun EndStalledJobs(Session& session, const base::Clock& clock, StalledCursor* cursor);

// Fails the monitors that are starting though the run that makes them has ended: a process of a
// version that knows nothing of such monitors has ended it. Of at most kJobKeeperBatch monitors;
// returns how many runs it looked at.
int FailMonitorsLeft(Session& session);

// Moves chunks of the lane smtp that have been due for `wait` to the lane lookup while no live
// member serves smtp; their verifications then say so. Returns how many moved, at most
// kJobKeeperBatch.
int MoveUnservedLane(Session& session, std::chrono::milliseconds wait);

}  // namespace vedette::store
