#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/batcher.h"
#include "store/deliveries/deliveries.h"
#include "store/session.h"

namespace vedette::delivery {

// Writes how attempts ended, in batches. What cannot be written now is repeated until the database
// has it. An attempt that the database refuses is lost to history, and its delivery is tried again
// when its lease ends. Loop thread only; everything handed in must outlive this object.
class Settler {
 public:
  // `settled`: attempts are written, or lost.
  Settler(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
          const config::DeliveryConfig& config, base::Logger log, std::function<void()> settled);

  // Within [delivery] settle_delay_ms, or at once when settle_max of them have gathered.
  void Add(store::AttemptRecord attempt);

  // Everything at once.
  void Flush();

  bool idle() const { return batcher_.idle(); }
  std::size_t gathered() const { return batcher_.gathered(); }

 private:
  lease::Batcher<store::AttemptRecord, std::vector<store::BreakerTurn>> batcher_;
};

}  // namespace vedette::delivery
