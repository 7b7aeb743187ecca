#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/worker/checks/held_chunks.h"
#include "worker/jobs/held_job_chunk.h"

// Job chunks as a claim gives them, for tests without a database.
namespace vedette::worker {

// Keeps what it is asked until the test answers.
class WaitingRunner final : public RowRunner {
 public:
  void Start(RowRequest request, std::function<void(RowResult)> done) override {
    asked.push_back({std::move(request), std::move(done)});
  }
  RowDone EndWith(const Cells& cells, RowError error) const override {
    return {cells, std::nullopt, std::move(error)};
  }

  struct Asked {
    RowRequest request;
    std::function<void(RowResult)> done;
  };
  std::vector<Asked> asked;
};

struct JobChunkOptions {
  int id = 1;
  int org = 1;
  int job = 1;
  int rows = 1;
  domain::Lane lane = domain::Lane::kLookup;
  int rank = 1;
  bool waited = false;
};

// The claim of a chunk of a job with one block, and the run of that block, which has nothing that
// runs it yet.
struct ClaimOfBlock {
  store::ClaimedJobChunk claimed;
  std::shared_ptr<BlockRun> run;
};
inline ClaimOfBlock NewClaim(const JobChunkOptions& options) {
  auto job = std::make_shared<store::JobSpec>();
  job->job_id = Id(options.job);
  job->org_id = Id(options.org);
  job->waited = options.waited;
  store::JobBlockSpec& block = job->blocks.emplace_back();
  block.parts_total = 1;
  block.price_mc = 1000;
  auto run = std::make_shared<BlockRun>();
  run->job = job;
  run->block = &job->blocks.front();
  store::ClaimedJobChunk claimed;
  claimed.lease = {Id(options.id), Id(1000 + options.id)};
  claimed.job_id = job->job_id;
  claimed.org_id = job->org_id;
  claimed.lane = options.lane;
  claimed.rank = options.rank;
  return {std::move(claimed), std::move(run)};
}

// A chunk of such a job; row i has the cell "i". Its job has an hour to go at 0 since boot.
inline JobChunkPtr NewJobChunk(const JobChunkOptions& options, std::shared_ptr<RowRunner> runner) {
  ClaimOfBlock claim = NewClaim(options);
  claim.run->runner = std::move(runner);
  const JobChunkPtr chunk = MakeHeldJobChunk(std::move(claim.claimed), std::move(claim.run));
  std::vector<JobRow> rows(static_cast<std::size_t>(options.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].cells = {std::to_string(i)};
  chunk->SetRows(std::move(rows));
  chunk->deadline = std::chrono::hours(1);
  return chunk;
}

// The same of a part that is made as a whole, in the lane `transform`.
inline JobChunkPtr NewWholeChunk(JobChunkOptions options, std::shared_ptr<const PartWork> work) {
  options.lane = domain::Lane::kTransform;
  ClaimOfBlock claim = NewClaim(options);
  claim.run->work = std::move(work);
  const JobChunkPtr chunk = MakeHeldJobChunk(std::move(claim.claimed), std::move(claim.run));
  chunk->SetWhole();
  chunk->deadline = std::chrono::hours(1);
  return chunk;
}

}  // namespace vedette::worker
