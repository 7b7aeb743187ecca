#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "store/jobs/claim.h"
#include "worker/blocks/part_work.h"
#include "worker/blocks/row_runner.h"

namespace vedette::worker {

// A block of a job, bound to what runs it. Immutable.
struct BlockRun {
  std::shared_ptr<const store::JobSpec> job;
  const store::JobBlockSpec* block = nullptr;  // of `job`
  // One of the two; neither: the block's specs cannot be run, and `fault` says why.
  std::shared_ptr<RowRunner> runner;
  std::shared_ptr<const PartWork> work;  // of a block that works on whole parts
  std::string fault;
  // The block that may be worked at once on what this one makes of its only part: it alone consumes
  // this one, and it needs nothing but rows. Null where there is none.
  std::shared_ptr<const BlockRun> next{};
  // Whether the job's records may share a transaction with those of other jobs: no block has more
  // than one part, so that the job has little to record, and nothing of it is locked but the job,
  // its chunks and its account.
  bool shares_records = false;
};
using BlockRunPtr = std::shared_ptr<const BlockRun>;

using JobSpecs = std::map<base::Uuid, std::shared_ptr<const store::JobSpec>>;

// Jobs whose specs are remembered, and the bytes of their params. What uses one keeps it alive
// beyond that.
inline constexpr std::size_t kJobsRememberedMax = 1024;
inline constexpr std::size_t kJobsRememberedBytesMax = 64 * 1024 * 1024;

// The jobs that BlockRuns remembers, for a claim on a thread of the pool, which looks for the few
// that it meets: there can be a thousand. Any thread.
class KnownJobs {
 public:
  // Null where the job is not remembered.
  std::shared_ptr<const store::JobSpec> Find(const base::Uuid& id) const;
  std::size_t size() const;
  void Add(std::shared_ptr<const store::JobSpec> job);
  void Remove(const base::Uuid& id);

 private:
  mutable std::mutex mutex_;
  JobSpecs jobs_;
};

// Binds the blocks of jobs, and remembers the jobs of which further parts may come, so that a claim
// loads each of them once: those of more than one part, the latest within both limits. Loop thread
// only. The blocks that are handed in must outlive this object and what it has bound.
class BlockRuns {
 public:
  explicit BlockRuns(const std::vector<RowBlock*>& blocks);

  // The jobs that are remembered, now and later.
  std::shared_ptr<const KnownJobs> Known() const { return known_; }

  // The block of the claimed chunk; null where this process has no block of its type, although
  // another binary may have one. `loaded` has the jobs that the claim brought.
  BlockRunPtr Bind(const store::ClaimedJobChunk& chunk, const JobSpecs& loaded);

  // Forgets what is beyond the limits. Not while the chunks of a claim are being bound: one
  // of them may be of a job that was remembered when the claim began.
  void Trim();

 private:
  struct Job {
    std::shared_ptr<const store::JobSpec> spec;
    std::map<int, BlockRunPtr> runs;  // by block
    std::list<base::Uuid>::iterator used;
  };

  BlockRunPtr Make(const std::shared_ptr<const store::JobSpec>& spec, int block) const;
  BlockRunPtr MakeNext(const std::shared_ptr<const store::JobSpec>& spec,
                       const store::JobBlockSpec& block) const;

  std::map<std::string, RowBlock*, std::less<>> blocks_;  // by type
  std::map<base::Uuid, Job> jobs_;
  const std::shared_ptr<KnownJobs> known_;  // those of jobs_
  std::list<base::Uuid> used_;              // of jobs_, the latest first
  std::size_t bytes_ = 0;                   // of the params of jobs_
};

}  // namespace vedette::worker
