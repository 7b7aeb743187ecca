#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/live.h"
#include "store/async.h"
#include "store/session.h"

namespace vedette::lease {

// When a step runs next, unless it is woken before.
using NextRun = std::optional<std::chrono::milliseconds>;
inline constexpr NextRun kAtOnce = std::chrono::milliseconds(0);
inline constexpr NextRun kAtPoll = std::nullopt;

// By how much of itself a poll's wait is at most longer, so that the pollers of a fleet do not
// march in step.
inline constexpr double kPollStretch = 0.25;

struct StepOptions {
  std::string failed;                // what the log says of a fault: "cutting ticks failed"
  std::chrono::milliseconds poll{};  // the wait for the next run where nobody wakes it; 0: endless
  double random = 0;                 // uniform in [0, 1): this process's stretch of `poll`
};

// One kind of database job, of which one is under way at a time. It runs when it is woken, and
// polls behind the wakes; wakes that arrive while it runs are coalesced into one more run. A run
// whose job failed is logged here, and nowhere else, and the step goes on with the next wake or
// poll.
//
//           Wake, the timer               the result
//   kIdle ------------------> kRunning ----------------> kIdle, with the timer started
//                              |    ^
//                         Wake |    | the result: it runs again at once
//                              v    |
//                            kRunningWoken
//
//   kIdle -- Drain --> kDrained
//   kRunning, kRunningWoken -- Drain --> kDraining -- the result --> kDrained
//
// Loop thread only. Everything handed in must outlive this object, and so must the object that the
// hooks refer to: no hook is called after the destructor.
template <typename T>
class Step {
 public:
  // What runs on the pool, where the owner may be gone meanwhile: it refers to nothing of it.
  using Job = std::function<T(store::Session&)>;
  // When the next run begins; or a further job, which belongs to the same run.
  using Then = std::variant<NextRun, Job>;

  struct Hooks {
    // Gives the job of the run that begins now. An empty one: there is nothing to do, or no room
    // for what it would bring. Then the step rests until the next wake or poll.
    std::function<Job()> begin;
    // The job's result. While the step is draining the answer is ignored. Wake may be called.
    std::function<Then(T result)> finish;
    // The job failed; it is logged already. May be empty.
    std::function<void(const store::Failure& failure)> failed{};
    // After a run, unless another one began at once: nothing is under way. Not called while the
    // step is draining. May be empty.
    std::function<void()> rested{};
  };

  Step(base::EventLoop& loop, store::Pool& pool, base::Logger log, StepOptions options, Hooks hooks)
      : loop_(loop),
        pool_(pool),
        log_(log),
        failed_(std::move(options.failed)),
        poll_(std::chrono::duration_cast<std::chrono::milliseconds>(
            options.poll * (1 + kPollStretch * options.random))),
        hooks_(std::move(hooks)),
        timer_(loop, [this] { Run(); }) {}

  // The first run begins in the next round of the loop.
  void Start() { timer_.Start(std::chrono::milliseconds(0)); }

  // There may be something to do: runs at once, or once more after the run that is under way.
  void Wake() {
    if (state_ == State::kIdle) {
      Run();
    } else if (state_ == State::kRunning) {
      state_ = State::kRunningWoken;
    }
  }

  // Begins no further run. `done` is posted to the loop once none is under way. At most one call.
  void Drain(std::function<void()> done) {
    base::Assert(!draining(), "a step is drained once");
    timer_.Stop();
    drained_ = std::move(done);
    if (state_ == State::kIdle) {
      EndDrain();
    } else {
      state_ = State::kDraining;
    }
  }

  // A run is under way: its result has not come yet.
  bool running() const { return state_ != State::kIdle && state_ != State::kDrained; }
  bool draining() const { return state_ == State::kDraining || state_ == State::kDrained; }

 private:
  enum class State { kIdle, kRunning, kRunningWoken, kDraining, kDrained };

  void Run() {
    base::Assert(state_ == State::kIdle, "one run of a step is under way at a time");
    timer_.Stop();
    // A wake asks for one more run from here on: what it announces may be missing from the job.
    state_ = State::kRunning;
    Job job = hooks_.begin();
    if (job) {
      Send(std::move(job));
    } else {
      state_ = State::kIdle;
      Rest(kAtPoll);
    }
  }

  void Send(Job job) {
    store::RunAsync<T>(pool_, loop_, std::move(job),
                       live_.Guard([this](std::variant<T, store::Failure> result) {
                         OnResult(std::move(result));
                       }));
  }

  void OnResult(std::variant<T, store::Failure> result) {
    Then then = kAtPoll;
    if (const auto* failure = std::get_if<store::Failure>(&result)) {
      // Anything but a fault is the database's state, which its sessions log.
      if (failure->kind == store::Failure::Kind::kFault) {
        log_.Error(failed_, {{"error", failure->message}});
      } else {
        log_.Debug(failed_, {{"error", failure->message}});
      }
      if (hooks_.failed) hooks_.failed(*failure);
    } else {
      then = hooks_.finish(std::move(std::get<T>(result)));
    }
    if (state_ == State::kDraining) {
      EndDrain();
    } else if (Job* job = std::get_if<Job>(&then)) {
      Send(std::move(*job));
    } else {
      const bool woken = std::exchange(state_, State::kIdle) == State::kRunningWoken;
      Rest(woken ? kAtOnce : std::get<NextRun>(then));
      if (state_ == State::kIdle && hooks_.rested) hooks_.rested();
    }
  }

  void Rest(NextRun next) {
    if (next == kAtOnce) {
      Run();
    } else if (next) {
      timer_.Start(*next);
    } else if (poll_.count() > 0) {
      timer_.Start(poll_);
    }
  }

  void EndDrain() {
    state_ = State::kDrained;
    loop_.Post(live_.Guard(std::exchange(drained_, nullptr)));
  }

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Logger log_;
  const std::string failed_;
  const std::chrono::milliseconds poll_;
  const Hooks hooks_;
  base::Timer timer_;
  State state_ = State::kIdle;
  std::function<void()> drained_;  // set while draining
  Live live_;
};

}  // namespace vedette::lease
