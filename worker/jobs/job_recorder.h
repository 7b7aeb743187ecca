#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/recorder.h"
#include "metrics/metrics.h"
#include "store/jobs/record.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_kind.h"

namespace vedette::worker {

// Records what becomes of the rows of parts (lease/recorder.h): finished parts of one job together,
// one transaction for up to [jobs] record_chunks_max of them; those of jobs with little to record,
// lookups above all, share a transaction with other jobs'. Rows of a part that goes on wait longer,
// so that what a crash repeats is little and a record rare. A part that the database refuses fails
// its job.
class JobRecorder final : public lease::Recorder<JobKind> {
 public:
  JobRecorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
              const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
              base::Logger log, JobHoldings& holdings, Hooks hooks);

  // A row of a held chunk that is not in flight has ended so. To be recorded.
  void AddEnd(const JobChunkPtr& chunk, std::size_t row, RowDone done);

  // The part of a held chunk is made as a whole. To be recorded.
  void AddMade(const JobChunkPtr& chunk, PartOutput made);

  // A row of a held chunk that is not in flight is to be tried later. To be recorded.
  void AddLater(const JobChunkPtr& chunk, std::size_t row, RowLater later);

  // The chunk's block cannot go on: its job is to fail.
  void AddFault(const JobChunkPtr& chunk, store::JobFault fault);

 private:
  // A record without the texts of its rows, which are made on the pool's thread.
  struct Draft {
    store::JobChunkRecord record;
    std::shared_ptr<const std::vector<RowRecord>> rows;
    std::shared_ptr<const PartOutput> made;  // of a whole part
  };

  std::optional<std::chrono::milliseconds> WaitOf(const HeldJobChunk& chunk) const override;
  std::size_t WeightOf(const Item& item) const override;
  base::Uuid GroupOf(const HeldJobChunk& chunk) const override;
  void Take(Item* item) override;
  Job Write(const std::vector<Item>& batch) override;
  void OnBatch(const std::vector<Item>& batch, const store::JobRecordResult& result,
               bool again) override;
  bool IsDropped(const store::JobRecordResult& result, const Item& item,
                 std::size_t n) const override;
  void OnItem(const Item& item, const store::JobRecordResult& result) override;
  bool OnRefused(Item& item) override;

  static Draft MakeDraft(const Item& item);
  static store::JobChunkRecord Complete(const Draft& draft);
  void ShowPassed(const HeldJobChunk& chunk);

  store::Signals& signals_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  JobHoldings& holdings_;
};

}  // namespace vedette::worker
