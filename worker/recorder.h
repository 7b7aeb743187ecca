#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/record.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/active_chunk.h"
#include "worker/notification_sink.h"

namespace vedette::worker {

// Gathers finished checks and records them in batches, one transaction each. What cannot be
// recorded now is tried again with backoff; a row that cannot be recorded at all is isolated and
// becomes a failed check. Loop thread only; outlived by pool and loop.
class Recorder {
 public:
  // `done(chunk)`: the chunk is recorded to its end, or lost, or has been given back: forget it.
  using Done = std::function<void(const std::shared_ptr<ActiveChunk>&)>;

  Recorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
           const base::Clock& clock, metrics::Metrics& metrics, const config::WorkerConfig& config,
           std::chrono::milliseconds delivery_lease, NotificationSink* sink, base::Logger log,
           Done done);
  ~Recorder();

  // The chunk has new results in `unrecorded`, or has nothing more to come.
  void Add(const std::shared_ptr<ActiveChunk>& chunk);

  // Gives back a chunk of which nothing is in flight, unrecorded or being recorded: `done` is
  // called, and whoever claims it next goes on from what is recorded.
  void GiveBack(const std::shared_ptr<ActiveChunk>& chunk);

  // Records everything gathered without waiting for more.
  void Flush();

  // The chunk is not held any more: what of it is not being recorded never will be.
  void Drop(const std::shared_ptr<ActiveChunk>& chunk);

  // Gives up what cannot be recorded now, and what fails from here on.
  void Abandon();

  // Nothing is gathered and nothing under way.
  bool idle() const;

 private:
  struct Batch;
  void Schedule();
  void Collect(bool everything);
  void Send(std::shared_ptr<Batch> batch);
  void OnRecorded(const std::shared_ptr<Batch>& batch, const store::RecordResult& result);
  void OnFailed(const std::shared_ptr<Batch>& batch, const store::Failure& failure);
  void OnFault(const std::shared_ptr<Batch>& batch, const store::Failure& failure);
  void Deliver(const std::shared_ptr<Batch>& batch, std::size_t i,
               const store::RecordResult& result);
  void CancelReserved(const std::vector<CheckResult>& results);
  void CancelReserved(const Batch& batch, std::size_t i);

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::WorkerConfig& config_;
  std::chrono::milliseconds delivery_lease_;
  NotificationSink* sink_;  // may be null
  base::Logger log_;
  Done done_;

  base::Timer timer_;
  base::Timer retry_timer_;
  std::vector<std::shared_ptr<ActiveChunk>> dirty_;  // each at most once, none of them recording
  std::vector<std::shared_ptr<Batch>> waiting_;      // for the retry timer
  int under_way_ = 0;
  bool abandoned_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::worker
