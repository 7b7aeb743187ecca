#pragma once

#include <chrono>
#include <functional>
#include <memory>

typedef struct uv_loop_s uv_loop_t;

namespace vedette::base {

// One libuv loop. Everything registered with it runs on the thread that calls Run().
class EventLoop {
 public:
  EventLoop();
  // The loop must not be running. Closes what is still open on it; functions posted and not yet run
  // are destroyed unrun.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until Stop(). The calling thread is the loop thread from here on.
  void Run();

  // Ends Run() soon, after the functions posted before it. Any thread.
  void Stop();

  // Runs `f` on the loop thread, in the order posted. Any thread, also before Run() and from the
  // loop thread itself (then it runs after the current callback). Many posts cost one wake-up. `f`
  // must not throw: that ends the process.
  void Post(std::function<void()> f);

  bool InLoopThread() const;

  // For net/, which puts its own handles on the loop. Loop thread only.
  uv_loop_t* raw();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A timer on a loop. Every method, the destructor included, on the loop thread or while the loop
// does not run. Destroying or stopping it means that the callback does not run any more.
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> callback);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Fires once after `delay` (0: in the next round of the loop), then every `repeat` if that is not
  // 0. Starting a running timer restarts it.
  void Start(std::chrono::milliseconds delay, std::chrono::milliseconds repeat = {});
  void Stop();
  bool active() const;

 private:
  struct Impl;
  Impl* impl_;  // owned by the loop until its handle is closed
};

// A timer on a loop that is exact to some microseconds; Timer counts whole
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
