#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "store/import.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::scheduler {

// Adds the rows of monitors that were made from uploaded files, a batch at a time. Any process may
// take the next batch; one that dies leaves its batch undone, never half done. Loop thread only;
// what is handed in outlives it.
class Importer {
 public:
  Importer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
           const base::Clock& clock, const config::Config& config, base::Logger log);
  ~Importer();

  void Start();

  // A file may be waiting: looks at once.
  void Wake();

  // Begins no further batch. `done` once none is under way.
  void Drain(std::function<void()> done);

 private:
  void Run();

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  const config::Config& config_;
  base::Logger log_;
  base::Timer timer_;
  bool running_ = false;
  bool draining_ = false;
  std::function<void()> drained_;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::scheduler
