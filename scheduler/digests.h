#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::scheduler {

// Cuts the digests of channels and tells organisations of themselves (store/channels/digests.h),
// without a leader. `check_price_mc`: of the cheapest check that costs anything, which a balance
// below does not pay. Loop thread only; everything handed in must outlive this object.
class Digests {
 public:
  Digests(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
          const base::Clock& clock, std::int64_t check_price_mc, const base::Logger& log);

  void Start();
  // Cuts nothing further. `done` once nothing is under way.
  void Drain(std::function<void()> done);

 private:
  lease::Step<int> step_;
  lease::Step<int> notices_;
};

}  // namespace vedette::scheduler
