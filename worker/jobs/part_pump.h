#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "config/config_fwd.h"
#include "lease/live.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/session.h"
#include "worker/blocks/part_work.h"
#include "worker/jobs/held_job_chunk.h"

namespace vedette::worker {

// Has held parts made as a whole, on [jobs] slots_transform threads of its own, which compute and
// do nothing else: sessions of the database, which claim, renew and record, wait for none of them.
// Organisations take turns on these threads, and one leaves a thread to the others where there are
// several (base/thread_pool.h); so a neighbour's part waits for one part of each other organisation
// at most, each bounded by kPartTimeMax (G10). Which organisation's are claimed is shared out
// before (job_room.h).
//
// A part of a job that has ended is not begun; one that is under way stops at its next row.
//
// Loop thread only; everything handed in must outlive this object. The destructor waits for what is
// being computed to stop.
class PartPump {
 public:
  struct Hooks {
    std::function<void(const JobChunkPtr&, PartOutput)> made;
    // The job is to fail.
    std::function<void(const JobChunkPtr&, store::JobFault)> fault;
    // The part could not be made now, as the database did not answer: it is to be tried later.
    std::function<void(const JobChunkPtr&)> failed;
    // The part is not under way any more, and nobody waits for it.
    std::function<void(const JobChunkPtr&)> dropped;
  };

  PartPump(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
           metrics::Metrics& metrics, const config::Config& config, base::Logger log,
           JobHoldings& holdings, Hooks hooks);
  ~PartPump();

  // The part is to be made in its organisation's turn. The chunk is held.
  void Start(const JobChunkPtr& chunk) { StartAs(chunk->org_id, chunk); }
  // The same of one that is tried alone, as its workers died: it takes a turn of its own, so that
  // little else is under way while it is the suspect.
  void StartAlone(const JobChunkPtr& chunk) { StartAs(chunk->id(), chunk); }
  // Tells the metrics how many parts are held. After one came or went.
  void ShowHeld();

 private:
  struct Task;
  using TaskPtr = std::shared_ptr<Task>;
  // What a step came to.
  using Result = std::variant<PartStep, PartStop, store::Failure>;

  void StartAs(const base::Uuid& turn, const JobChunkPtr& chunk);
  void Compute(const JobChunkPtr& chunk, const TaskPtr& task, PartCompute step);
  void Read(const JobChunkPtr& chunk, const TaskPtr& task, PartRead asked);
  void OnStep(const JobChunkPtr& chunk, const TaskPtr& task, Result result);
  void OnEnd(const JobChunkPtr& chunk, Result result);

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  const base::Logger log_;
  JobHoldings& holdings_;
  const Hooks hooks_;
  base::ThreadPool threads_;
  lease::Live live_;
};

}  // namespace vedette::worker
