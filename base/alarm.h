#pragma once

#include <chrono>
#include <functional>

#include "base/event_loop.h"

namespace vedette::base {

// A timer on a loop that is exact to some microseconds; Timer (event_loop.h) counts whole
// milliseconds and costs no descriptor. Every method, the destructor included, on the loop thread
// or while the loop does not run. Destroying it means that the callback does not run any more.
class Alarm {
 public:
  // Throws std::runtime_error where the process has no descriptor left.
  Alarm(EventLoop& loop, std::function<void()> callback);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Fires once after `delay`, at once where that is not above zero. Starting it again restarts it.
  void Start(std::chrono::nanoseconds delay);

 private:
  struct Impl;
  Impl* impl_;  // owned by the loop until its handle is closed
};

}  // namespace vedette::base
