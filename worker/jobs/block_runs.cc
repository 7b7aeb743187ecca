#include "worker/jobs/block_runs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "domain/workflow/block_type.h"

namespace vedette::worker {
namespace {

bool HasFurtherParts(const store::JobSpec& job) {
  int parts = 0;
  for (const store::JobBlockSpec& block : job.blocks) parts += block.parts_total;
  return parts > 1;
}

bool SharesRecords(const store::JobSpec& job) {
  // Its records lock what it found.
  if (job.kind == domain::JobKind::kInvestigation) return false;
  return std::all_of(job.blocks.begin(), job.blocks.end(), [](const auto& block) {
    // The records of a block `monitor` lock its monitor.
    return block.parts_total <= 1 && block.type != domain::kMonitorBlockName;
  });
}

// Whether the type makes of rows nothing but rows, and of those before them no more than keys.
bool MakesRowsOnly(const std::string& type) {
  const domain::BlockType* found = domain::FindBlockType(type);
  return found != nullptr && (found->work == domain::BlockWork::kRowFunction ||
                              found->work == domain::BlockWork::kDedupe);
}

}  // namespace

std::shared_ptr<const store::JobSpec> KnownJobs::Find(const base::Uuid& id) const {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : job->second;
}

std::size_t KnownJobs::size() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void KnownJobs::Add(std::shared_ptr<const store::JobSpec> job) {
  const base::Uuid id = job->job_id;
  const std::lock_guard lock(mutex_);
  jobs_.emplace(id, std::move(job));
}

void KnownJobs::Remove(const base::Uuid& id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(id);
}

BlockRuns::BlockRuns(const std::vector<RowBlock*>& blocks) : known_(std::make_shared<KnownJobs>()) {
  for (RowBlock* block : blocks) {
    const bool is_new = blocks_.emplace(block->type(), block).second;
    base::Assert(is_new, "A type of block is registered once.");
  }
}

BlockRunPtr BlockRuns::Bind(const store::ClaimedJobChunk& chunk, const JobSpecs& loaded) {
  auto job = jobs_.find(chunk.job_id);
  if (job == jobs_.end()) {
    const auto spec = loaded.find(chunk.job_id);
    if (spec == loaded.end()) return nullptr;
    if (!HasFurtherParts(*spec->second)) return Make(spec->second, chunk.block);
    used_.push_front(chunk.job_id);
    bytes_ += spec->second->params_json.size();
    job = jobs_.emplace(chunk.job_id, Job{spec->second, {}, used_.begin()}).first;
    known_->Add(spec->second);
  }
  used_.splice(used_.begin(), used_, job->second.used);
  auto& runs = job->second.runs;
  auto run = runs.find(chunk.block);
  if (run == runs.end()) {
    run = runs.emplace(chunk.block, Make(job->second.spec, chunk.block)).first;
  }
  return run->second;
}

BlockRunPtr BlockRuns::Make(const std::shared_ptr<const store::JobSpec>& spec, int block) const {
  const auto of_job = std::find_if(spec->blocks.begin(), spec->blocks.end(),
                                   [block](const auto& other) { return other.block == block; });
  if (of_job == spec->blocks.end()) return nullptr;
  auto run = std::make_shared<BlockRun>();
  run->job = spec;
  run->block = &*of_job;
  run->shares_records = SharesRecords(*spec);
  if (auto work = BindPartWork(of_job->type, of_job->specs_json)) {
    if (auto* sentence = std::get_if<std::string>(&*work)) {
      run->fault = std::move(*sentence);
    } else {
      run->work = std::get<std::shared_ptr<const PartWork>>(std::move(*work));
      run->next = MakeNext(spec, *of_job);
    }
    return run;
  }
  const auto type = blocks_.find(of_job->type);
  if (type == blocks_.end()) return nullptr;
  auto bound = type->second->Bind(of_job->specs_json, of_job->price_mc);
  if (auto* sentence = std::get_if<std::string>(&bound)) {
    run->fault = std::move(*sentence);
  } else {
    run->runner = std::get<std::shared_ptr<RowRunner>>(std::move(bound));
  }
  return run;
}

BlockRunPtr BlockRuns::MakeNext(const std::shared_ptr<const store::JobSpec>& spec,
                                const store::JobBlockSpec& block) const {
  const store::JobBlockSpec* next = nullptr;
  for (const store::JobBlockSpec& other : spec->blocks) {
    if (other.input != block.block) continue;
    if (next != nullptr) return nullptr;  // two consume it
    next = &other;
  }
  if (next == nullptr || block.parts_total != 1 || next->parts_total != 1) return nullptr;
  if (!MakesRowsOnly(next->type)) return nullptr;
  BlockRunPtr run = Make(spec, next->block);
  return run && run->work ? run : nullptr;
}

void BlockRuns::Trim() {
  while (jobs_.size() > kJobsRememberedMax || bytes_ > kJobsRememberedBytesMax) {
    const auto last = jobs_.find(used_.back());
    bytes_ -= last->second.spec->params_json.size();
    known_->Remove(last->first);
    jobs_.erase(last);
    used_.pop_back();
  }
}

}  // namespace vedette::worker
