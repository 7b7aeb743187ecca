#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "store/jobs/claim.h"
#include "worker/jobs/held_job_chunk.h"

// The rows of a part between the database's JSON and a held chunk. Pure. Parts can be large: these
// functions run on the threads of the pool, never on the loop.
namespace vedette::worker {

// A part that cannot be read; the sentence says why, without anything of its rows.
struct UnreadablePart {
  std::string sentence;
};

// The rows of a claimed chunk: those of its input part or, for a block without input, of the job's
// params, `{"rows": [cell, ..], ..}`, one cell a row. What earlier holders recorded of them is
// applied: ended rows have their output, and a row whose time has not come at `now` is kLater.
std::variant<std::vector<JobRow>, UnreadablePart> ReadPart(const store::ClaimedJobChunk& chunk,
                                                           const store::JobSpec& job,
                                                           base::Timestamp now);

// What a record writes of a row, as of when it was made.
struct RowRecord {
  std::shared_ptr<const Cells> output;  // null: it has not ended
  std::string memo;
  base::Timestamp not_before{};
  domain::JobWait why = domain::JobWait::kUntold;
};

// The output of a part, of which every row has ended: JSON array of arrays.
std::string WriteOutput(const std::vector<RowRecord>& rows);

// store::JobPartProgress::done_json. Of "later", which is the pipeline's own:
//   {"<index>": {"at_us": 1764000000000000, "for": 1, "memo": {..}}}
// "for" (domain::JobWait) and memo are left out where there is none.
std::string WriteDone(const std::vector<RowRecord>& rows);

}  // namespace vedette::worker
