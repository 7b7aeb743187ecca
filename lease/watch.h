#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/step.h"
#include "store/session.h"

namespace vedette::lease {

// Reads at intervals whether what is held may still be worked on, so that no row starts on
// knowledge that is too old (HeldWork::Fresh, G5). The claim itself is the first read of what it
// brings. Where a read fails the next one tries. Loop thread only; everything handed in must
// outlive this object.
template <typename Seen>
class Watch {
 public:
  using Job = typename Step<Seen>::Job;
  struct Hooks {
    // The read that begins now; empty where nothing is held.
    std::function<Job()> read;
    // The read found this. `began`: since boot; what changed later may not be in it.
    std::function<void(const Seen& seen, std::chrono::nanoseconds began)> seen;
  };

  Watch(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
        StepOptions options, Hooks hooks)
      : clock_(clock),
        hooks_(std::move(hooks)),
        step_(loop, pool, log, std::move(options),
              {.begin =
                   [this] {
                     began_ = clock_.SinceBoot();
                     return hooks_.read();
                   },
               .finish = [this](const Seen& seen) -> typename Step<Seen>::Then {
                 hooks_.seen(seen, began_);
                 return kAtPoll;
               }}) {}

  void Start() { step_.Start(); }
  // Reads at once, unless a read is under way.
  void Wake() {
    if (!step_.running()) step_.Wake();
  }

 private:
  const base::Clock& clock_;
  const Hooks hooks_;
  std::chrono::nanoseconds began_{};  // since boot: the read that is under way
  Step<Seen> step_;
};

}  // namespace vedette::lease
