#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/uuid.h"

namespace vedette::base {

// Threads for pure computation that would hold up the event loop (parsing pages). Not for waiting.
//
// Keys (organisations) take turns: a job waits behind one job of each other key that waits, not
// behind a neighbour's backlog, and no key's backlog makes the pool refuse another's job (G10).
class ThreadPool {
 public:
  struct Limits {
    std::size_t threads = 1;
    // The threads that one key may occupy at once: fewer than all of them leave one for the others.
    std::size_t threads_per_key_max = 1;
    // Jobs of one key that wait. How many keys there are is the caller's to bound.
    std::size_t queue_per_key_max = 1;
  };

  ThreadPool(std::string name, Limits limits);
  // Finishes what has begun, drops what waits.
  ~ThreadPool();

  // False when the key's queue is full or the pool is stopping. Any thread. A job must not throw:
  // that ends the process.
  [[nodiscard]] bool Post(const Uuid& key, std::function<void()> job);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::base
