#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "domain/monitor/row_values.h"
#include "store/lease.h"
#include "store/session.h"
#include "store/signals.h"

// The one transaction in which rows of jobs take effect: parts, counters, charge, what they open,
// and the ends that follow (G1). The fences are here, in the database: the lease's token, the
// number of records made (`progress`), and the part's key.
//
//   a chunk, leased:  --JobPartProgress--> leased, progress + 1    some rows have ended
//                     --JobPartEnd-------> gone, its part exists    all rows have ended
//                     --JobFault---------> gone, its job has failed
namespace vedette::store {

// Some rows of the part have ended, or are to be tried later.
struct JobPartProgress {
  // Everything recorded of the part until now, this record included:
  //   {"rows": [cells or null, ..], "later": {"<index>": {..}, ..}}
  // "rows" has an entry for each row of the part: its cells, or null while it has not ended. It
  // becomes the part as it is where the job ends before the part does. "later" is the pipeline's.
  std::string done_json;
  bool serial = false;  // its rows are tried one by one: claims go on counting
};

// A part of a block's output.
struct JobMadePart {
  int part = 0;
  std::string rows_json;
  int row_count = 0;
};

// What a part of a block `monitor` adds to the block's monitor; its first part makes it.
struct JobMonitorRows {
  base::Uuid monitor_id;
  std::vector<domain::RowValues> rows;  // no two with the same key, none that it has already
  std::vector<base::Uuid> row_ids;      // of `rows`
};

// What the next block made at once of the output of a part, without a chunk of its own: a small run
// is not claimed and recorded once for each of its blocks.
struct JobPassedPart {
  int block = 0;
  std::vector<JobMadePart> made;
  std::vector<std::string> keys;  // as JobPartEnd::keys
  int rows_done = 0;              // of its input
  int row_errors = 0;
};

// Every row of the part has ended.
struct JobPartEnd {
  std::string rows_json;  // the output: array of arrays, in the order of the block's columns
  int row_count = 0;      // of the output, at most kPartRowsMax
  // The job fails instead of completing when this part is its last one: of a lookup of one row
  // whose row failed. With the code timed_out it is timed_out, also for rows whose job had no more
  // time for them.
  std::optional<std::string> error_code;
  std::optional<std::string> error;
  // In place of rows_json and row_count, of a block that works on whole parts: what it made.
  std::optional<std::vector<JobMadePart>> made{};
  std::vector<std::string> keys{};  // that `dedupe` has seen first in this part, 16 bytes each
  std::optional<JobMonitorRows> monitor{};  // of `monitor`
  // Each of a block that consumes the one before it, the first one this part's, and is consumed by
  // no part that is under way: the part before it is its input's only one.
  std::vector<JobPassedPart> passed{};
};

// The block cannot go on, and with it the job: it cannot be bound, its source is gone, its output
// cannot be stored, its part killed its worker.
struct JobFault {
  std::string reason{domain::kReasonBlockFailed};  // a code
  std::string error;                               // a sentence
};

struct JobChunkRecord {
  base::Uuid job_id;
  Lease lease;
  int block = 0;
  int part = 0;
  int progress = 0;  // records made of the chunk before this one
  // The rows of this record alone.
  int rows_done = 0;
  int row_errors = 0;
  int rows_charged = 0;
  // Rows of these that were worked from start to end without an error, and how long they took, each
  // for itself: what the parts of later runs are sized by.
  int rows_timed = 0;
  std::chrono::microseconds rows_took{};
  std::int64_t charge_mc = 0;                       // of rows_charged; never more than was reserved
  std::optional<std::vector<std::string>> columns;  // of the block, once they are bound
  // What the last row that failed says, a code and a sentence, for the operator. Kept where a later
  // record has none.
  std::optional<std::string> last_error;
  std::variant<JobPartProgress, JobPartEnd, JobFault> what;
};

// Chunks of one record. No two are the same.
inline constexpr std::size_t kJobRecordChunksMax = 64;

enum class JobRecorded {
  kRecorded,
  kBefore,   // an earlier call with the same progress has happened
  kDropped,  // the lease is lost, or the chunk is gone: nothing of it took effect
};

struct JobRecordResult {
  std::vector<JobRecorded> chunks;                // in the order of the records
  std::map<base::Uuid, domain::JobStatus> ended;  // the jobs that ended in this transaction
  std::vector<Signal> raise;                      // after it; the caller raises them
  base::Timestamp recorded_at{};
};

// Chunks of one job, or of several: they share the transaction, its statements and its COMMIT, and
// are otherwise as if each job had been recorded by itself. Jobs are locked in the order of their
// ids, then chunks in that of theirs, then accounts.
//
// A job whose deadline has come when it is locked ends with the record as timed_out, unless the
// record completes it or ends it otherwise.
//
// All or nothing for the chunks whose lease still holds. Its COMMIT waits for the disk only where
// money moves, or a block or a job ends. After CommitUnknown the same call is safe to repeat: what
// happened is kBefore or kDropped. Throws as InTransaction does; std::logic_error where more is
// charged than is reserved (then nothing happened).
JobRecordResult RecordJobChunks(Session& session, const base::Clock& clock,
                                const std::vector<JobChunkRecord>& records);

}  // namespace vedette::store
