#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"

namespace vedette::store {

// What the parts of the fleet wake each other for.
enum class Signal {
  kDue,       // a monitor became due: for schedulers
  kChunk,     // a chunk became available: for workers
  kDelivery,  // a delivery became available: for deliverers
  kJobChunk,  // a job chunk became available: for workers
  kJob,       // a job ended for which a client waits: for the API
  kRender,    // a page is to be rendered, or may begin now: for browsers
  kRendered,  // a page is offered or answered: for who asked
};

// LISTEN and NOTIFY over a connection and thread of its own. A hint, not a promise: every listener
// polls as well. Notifications go out in a small transaction of their own, coalesced over 20 ms
// (the first at once): inside a COMMIT they serialise all committers. The raiser's own process does
// not wait for the database: its listener is told by Raise itself, or within 2 ms where it was told
// less than that ago, and before others are told the same. Where one process takes what is raised
// (a due monitor, a chunk, a delivery) and the raiser's own may be that one, the others are told 5
// ms later, and do not claim what is taken.
class Signals {
 public:
  Signals(const config::DatabaseConfig& config, const base::Clock& clock, metrics::Metrics& metrics,
          base::Logger log);
  ~Signals();

  // Before Start. `handler` runs on the signals' thread or on that of a Raise, one at a time: hand
  // over to a loop at once, and raise nothing. It also runs after every reconnection, when
  // something may have been missed; never before Start, nor after Stop.
  void Listen(Signal signal, std::function<void()> handler);
  void Start();
  void Stop();

  // Wakes every listener of the fleet, this process's own included. Any thread; returns at once.
  void Raise(Signal signal);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::store
