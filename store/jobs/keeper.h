#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
  // The jobs that could not be ended; the others were. They are tried again by the next run.
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

// The job behind which the search for stalled jobs goes on.
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

// Parts that become larger while their run goes on. A run is cut into parts before it is known how
// long its rows take, by a guess and by the runs before it (0029): where they turn out to be quick,
// a part is soon done, and what is done for each part is most of the work.
//
//   parts of the source:   | done | begun | of nobody yet .......................|
//   after it:              | done | begun |  each several of these as one  |
//
// Every block makes its part k of part k of its input, so that the parts of all blocks change with
// those of the source. What has begun stays as it is, row ids and all.

struct GrowRules {
  std::chrono::milliseconds part_target{};  // [worker] chunk_duration_target_ms
  int window_rows = 0;                      // [workflows] window_rows
};

// A part that grew has at most so many bytes.
inline constexpr int kGrownPartBytesMax = 512 * 1024;
// Parts of a run that are left at least, for it to be worth while.
inline constexpr int kGrowPartsLeftMin = 64;
// Runs of one call.
inline constexpr int kGrowBatch = 20;

// Makes the parts of runs larger, at least twice, where what was measured says that they were cut
// too small. Their source is whole by then. Waits for records of these runs, as a cancel does. What
// is to be raised is in the result.
JobKeeperRun GrowParts(Session& session, const GrowRules& rules);

// The end of what jobs leave behind.

struct JobRetention {
  std::chrono::hours jobs;  // after the end; of runs `runs`
  std::chrono::hours runs;
};

// Deletes jobs that ended longer ago than their retention and have no delivery left, with their
// blocks. Does nothing while another process is at it, and returns nothing then; else how many were
// deleted, at most kJobsRetiredMax. Finding that there is none to delete reads every kept job that
// is older than the shortest of the retentions.
std::optional<int> RetireJobs(Session& session, const JobRetention& retention);
inline constexpr int kJobsRetiredMax = 1000;

// Drops days of jobs' rows that are older than `run_data`, from the day of the job's id, and none
// of whose jobs is open, unless they are in use; deletes such rows that stand in no day's table, at
// most kOldRowsMax, and returns how many. `in_use`: TablesInUse (store/sql.h).
int DropOldRows(Session& session, std::chrono::hours run_data, std::set<std::string>* in_use);
inline constexpr int kOldRowsMax = 1000;

// What the rows of runs take of the disk, by organisation: counted as parts are written
// (job_block.bytes), kept when their run ends (run_data), and given back when they are dropped,
// with their day or, where nobody can read them any more, soon after the run was cancelled.

// A row of the database takes about this beside what is in it.
inline constexpr std::int64_t kPartBytesMore = 100;

// What a part with these rows counts for.
constexpr std::int64_t RunBytesOf(std::string_view rows_json) {
  return static_cast<std::int64_t>(rows_json.size()) + kPartBytesMore;
}

// Ends the runs that go on of organisations whose runs take `bytes_max` or more as failed,
// run_data_limit_reached; what they have made stays. At most kJobKeeperBatch.
JobKeeperRun EndRunsOverLimit(Session& session, const base::Clock& clock, std::int64_t bytes_max);

// Parts that a call of DropUnreadRows deletes.
inline constexpr int kUnreadPartsMax = 5000;

// Deletes of one cancelled run the rows of its source, in which nobody can see what came of them.
// Returns kUnreadPartsMax where there may be more to delete.
int DropUnreadRows(Session& session);

// Internal to store/: what ends several jobs for the keeper.

// Ends them one by one, each in a transaction, and adds what came of it to `run`: a job that cannot
// be ended is in nobody's way. Throws where the database is gone.
void EndEach(Session& session, const base::Clock& clock, const std::vector<base::Uuid>& job_ids,
             const JobEnding& ending, JobKeeperRun* run);

}  // namespace vedette::store
