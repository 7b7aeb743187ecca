#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/session.h"
#include "work/live.h"
#include "worker/blocks/part_work.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_holdings.h"

namespace vedette::worker {

// Has held parts made as a whole, in the order in which they were claimed: [jobs] slots_transform
// of them at once, on threads of the pool. Parts of jobs whose records share a transaction are made
// one after the other in one slot, and so come to be recorded together. Which organisation's are
// claimed is shared out before (job_room.h). A part of a job that has ended is not begun; one that
// is under way is, at its end, dropped by its lease, as nothing was charged for it.
//
// Loop thread only; everything handed in must outlive this object.
class PartPump {
 public:
  struct Hooks {
    std::function<void(const JobChunkPtr&, PartOutput)> made;
    // The job is to fail.
    std::function<void(const JobChunkPtr&, store::JobFault)> fault;
    // The database did not answer: the part is to be tried later.
    std::function<void(const JobChunkPtr&)> failed;
    // The part is not under way any more, and nobody waits for it.
    std::function<void(const JobChunkPtr&)> dropped;
  };

  PartPump(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
           metrics::Metrics& metrics, const config::Config& config, base::Logger log,
           JobHoldings& holdings, Hooks hooks);

  // The part is to be made in turn. The chunk is held.
  void Enqueue(const JobChunkPtr& chunk) { waiting_.push_back(chunk); }
  // Begins parts while there are slots.
  void Pump();
  // Begins this one at once, whatever else is under way.
  void Start(const JobChunkPtr& chunk) { StartTogether({chunk}); }
  // Tells the metrics how many parts are held. After one came or went.
  void ShowHeld();

 private:
  // Takes the next parts for one slot. Empty: none waits.
  std::vector<JobChunkPtr> TakeWaiting();
  void StartTogether(const std::vector<JobChunkPtr>& chunks);
  void OnFailed(const std::vector<JobChunkPtr>& chunks, const store::Failure& failure);
  void OnMade(const JobChunkPtr& chunk, std::variant<PartResult, store::Failure> result);

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  const base::Logger log_;
  JobHoldings& holdings_;
  const Hooks hooks_;
  std::deque<JobChunkPtr> waiting_;
  std::deque<JobChunkPtr> alone_;  // of a slot in which the database did not answer
  std::size_t slots_used_ = 0;
  work::Live live_;
};

}  // namespace vedette::worker
