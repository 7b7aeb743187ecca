#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace vedette::base {

// Threads for pure computation that would hold up the event loop (parsing pages). Not for waiting.
class ThreadPool {
 public:
  // `queue_max` bounds what waits.
  ThreadPool(std::string name, std::size_t threads, std::size_t queue_max);
  // Finishes what has begun, drops what waits.
  ~ThreadPool();

  // False when the queue is full or the pool is stopping. Any thread. A job must not throw: that
  // ends the process.
  [[nodiscard]] bool Post(std::function<void()> job);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::base
