#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "domain/job/job.h"
#include "store/jobs/claim.h"
#include "store/jobs/record.h"
#include "worker/jobs/block_runs.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/part_rows.h"

namespace vedette::worker {

// What a claim brought.
struct ClaimedJobs {
  // A chunk with the rows of its part. In the lane `transform` parts are worked on as a whole: the
  // text of the rows stays with the chunk, and `rows` is empty.
  struct Loaded {
    store::ClaimedJobChunk chunk;  // otherwise without it
    std::variant<std::vector<JobRow>, UnreadablePart> rows;
  };

  base::Timestamp now{};               // the claim's time, by the database's clock
  std::chrono::nanoseconds read_at{};  // since boot: the same time, or a little before it
  std::vector<Loaded> chunks;          // not held yet
  JobSpecs specs;                      // of their jobs, but for those that were remembered
};

// What a record takes of a chunk.
struct TakenRows {
  enum class What { kProgress, kEnd, kFault };

  What what = What::kProgress;
  int progress = 0;
  RowCounts counts;
  std::shared_ptr<const std::vector<RowRecord>> rows;
  std::vector<std::function<void()>> to_be_told;  // when it is written
};

// Jobs as a kind of leased work (lease/pipeline.h).
struct JobKind {
  using Work = HeldJobChunk;
  using Lane = domain::Lane;
  using Scan = store::JobScan;
  using Share = store::JobShare;
  using Claimed = ClaimedJobs;
  using Taken = TakenRows;
  using Written = store::JobRecordResult;
};

}  // namespace vedette::worker
