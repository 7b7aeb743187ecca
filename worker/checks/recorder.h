#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/batcher.h"
#include "metrics/metrics.h"
#include "store/checks/record.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/holdings.h"
#include "worker/checks/notification_sink.h"

namespace vedette::worker {

// Records what a chunk's results write: gathers the results of many chunks and records them in
// batches, one transaction each (lease/batcher.h). Results of chunks that go on wait longer than
// those of chunks that are finished. What cannot be recorded now is tried again with backoff; a
// chunk that the database refuses is recorded one result at a time, and a result that it refuses
// becomes a failed check. Loop thread only; everything handed in must outlive this object.
class Recorder {
 public:
  struct Hooks {
    // The chunk is recorded to its end, or its lease was lost: it is to be held no more.
    std::function<void(const ChunkPtr&)> ended;
    // The chunk is to be given back: a drain wants it and all of it is recorded, or it cannot be
    // recorded here. The process that claims it next goes on from what is recorded.
    std::function<void(const ChunkPtr&)> give_back;
  };

  // `sink` may be null.
  Recorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
           const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
           NotificationSink* sink, base::Logger log, Holdings& holdings, Hooks hooks);

  // A row of a held chunk that had no outcome has this one. To be recorded.
  void AddResult(const ChunkPtr& chunk, CheckResult result);

  // The chunk may have nothing more to come: records what is left, or its end. Where nothing is to
  // be recorded, nothing happens.
  void Add(const ChunkPtr& chunk);

  // Records everything gathered without waiting for more.
  void Flush() { batcher_.Flush(); }

  // The chunk is not held any more: those of its results that are not being recorded never will be.
  void Drop(const ChunkPtr& chunk);

  // Gives up what cannot be recorded now, and what fails from here on.
  void Abandon() { batcher_.Abandon(); }

 private:
  // Some results of a chunk, perhaps with its end. Empty until it goes into a batch.
  struct Item {
    ChunkPtr chunk;
    std::vector<CheckResult> results;
    bool finished = false;

    bool operator==(const Item& other) const { return chunk == other.chunk; }
  };
  using Batcher = lease::Batcher<Item, store::RecordResult>;

  Batcher::Hooks BatcherHooks();
  static bool Take(Item* item);
  static std::vector<store::HealthTurn> Explained(std::vector<store::HealthTurn> turns,
                                                  const std::vector<Item>& items);
  void OnWritten(const std::vector<Item>& items, const store::RecordResult& result, bool again);
  void OnItemWritten(const Item& item, const store::RecordResult& result);
  void OnLost(Item item, const lease::Loss& loss);
  void RecordOneByOne(Item item);
  void Deliver(const std::vector<CheckResult>& results, const store::RecordResult& result);
  void CancelReserved(const std::vector<CheckResult>& results);

  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::WorkerConfig& config_;
  const base::Logger log_;
  const std::chrono::milliseconds delivery_lease_;
  NotificationSink* const sink_;  // may be null
  Holdings& holdings_;
  const Hooks hooks_;
  Batcher batcher_;
};

}  // namespace vedette::worker
