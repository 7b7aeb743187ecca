#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/watch.h"
#include "store/jobs/claim.h"
#include "store/lease.h"
#include "store/session.h"
#include "worker/jobs/held_job_chunk.h"

namespace vedette::worker {

// How often a process looks which of its job chunks it still holds. An answer is good for
// store::kJobHeldFresh, so that three looks in a row may fail before rows wait for one.
inline constexpr std::chrono::milliseconds kHeldReadEvery{1000};

// Looks which of the held chunks are still this process's and may run, and notes with each how old
// that knowledge is: so a job that ends, and an organisation that is locked, stop (G5). Loop thread
// only; everything handed in must outlive this object.
class HeldWatch {
 public:
  struct Hooks {
    // The lease is another process's, or the chunk is gone.
    std::function<void(const JobChunkPtr&)> lost;
    // The chunk's organisation is locked: no further row of it starts.
    std::function<void(const JobChunkPtr&)> locked;
    // A look has taken effect: rows may start again.
    std::function<void()> looked;
  };

  HeldWatch(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
            const JobHoldings& holdings, Hooks hooks);

  void Start() { watch_.Start(); }
  // Looks at once, unless a look is under way.
  void Wake() { watch_.Wake(); }

 private:
  struct Look {
    std::vector<store::Lease> asked;
    std::vector<store::JobLeaseState> held;
  };
  using Looks = lease::Watch<Look>;

  Looks::Job Ask() const;
  void OnLooked(const Look& look, std::chrono::nanoseconds began);

  const JobHoldings& holdings_;
  const Hooks hooks_;
  Looks watch_;
};

}  // namespace vedette::worker
