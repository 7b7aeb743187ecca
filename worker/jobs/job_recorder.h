#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/batcher.h"
#include "metrics/metrics.h"
#include "store/jobs/record.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_holdings.h"
#include "worker/jobs/part_rows.h"

namespace vedette::worker {

// Records what becomes of the rows of parts: gathers finished parts of one job and records them
// together, one transaction for up to [jobs] record_chunks_max of them (lease/batcher.h); those of
// jobs with little to record, lookups above all, share a transaction with other jobs'. Rows of a
// part that goes on wait longer, so that what a crash repeats is little and a record rare. A record
// that cannot be made now is tried again with backoff; a part that the database refuses fails its
// job. Loop thread only; everything handed in must outlive this object.
class JobRecorder {
 public:
  struct Hooks {
    // The chunk is recorded to its end, or its lease was lost: it is to be held no more.
    std::function<void(const JobChunkPtr&)> ended;
    // Everything of the chunk that was to be recorded is, and it goes on.
    std::function<void(const JobChunkPtr&)> recorded;
    // The chunk cannot be recorded here: the process that claims it next goes on from what is
    // recorded.
    std::function<void(const JobChunkPtr&)> give_back;
  };

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

  // The chunk may have nothing more to come: records what is left, or its end. Where nothing is to
  // be recorded, nothing happens.
  void Add(const JobChunkPtr& chunk);

  // Records everything gathered without waiting for more.
  void Flush() { batcher_.Flush(); }

  // Gives up what cannot be recorded now, and what fails from here on.
  void Abandon() { batcher_.Abandon(); }

 private:
  enum class What { kProgress, kEnd, kFault };

  // A record of a chunk. Only the chunk is set until it goes into a batch.
  struct Item {
    JobChunkPtr chunk;
    What what = What::kProgress;
    int progress = 0;
    RowCounts counts;
    std::shared_ptr<const std::vector<RowRecord>> rows;
    std::vector<std::function<void()>> to_be_told;  // when it is written

    bool operator==(const Item& other) const { return chunk == other.chunk; }
  };
  using Batcher = lease::Batcher<Item, store::JobRecordResult>;

  // A record without the texts of its rows, which are made on the pool's thread.
  struct Draft {
    store::JobChunkRecord record;
    std::shared_ptr<const std::vector<RowRecord>> rows;
    std::shared_ptr<const PartOutput> made;  // of a whole part
  };

  Batcher::Hooks BatcherHooks();
  static Draft MakeDraft(const Item& item);
  static store::JobChunkRecord Complete(const Draft& draft);
  static bool Take(Item* item);
  void NoteUnrecorded(HeldJobChunk& chunk);
  void OnWritten(const std::vector<Item>& items, const store::JobRecordResult& result);
  void OnItemWritten(const Item& item);
  void ShowPassed(const HeldJobChunk& chunk);
  void OnLost(const Item& item, const lease::Loss& loss);

  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  JobHoldings& holdings_;
  const Hooks hooks_;
  Batcher batcher_;
};

}  // namespace vedette::worker
