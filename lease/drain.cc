#include "lease/drain.h"

#include <utility>

#include "base/assert.h"

namespace vedette::lease {

Drain::Drain(base::EventLoop& loop, std::chrono::milliseconds time_max, Hooks hooks,
             std::chrono::milliseconds grace)
    : loop_(loop),
      time_max_(time_max),
      grace_(grace),
      hooks_(std::move(hooks)),
      timer_(loop, [this] { OnTimer(); }) {}

void Drain::Begin(std::function<void()> done) {
  base::Assert(state_ == State::kWorking, "a drain begins once");
  state_ = State::kDraining;
  done_ = std::move(done);
  timer_.Start(time_max_);
  Check();
}

void Drain::Check() {
  if (state_ != State::kDraining && state_ != State::kOverdue) return;
  if (hooks_.idle()) End();
}

void Drain::OnTimer() {
  if (state_ == State::kDraining) {
    state_ = State::kOverdue;
    timer_.Start(grace_);
    hooks_.overdue();
    Check();
    return;
  }
  base::Assert(state_ == State::kOverdue, "a drain that has ended has no timer");
  hooks_.abandon();
  // What `abandon` forgot may have ended the drain already.
  if (state_ == State::kOverdue) End();
}

void Drain::End() {
  state_ = State::kDrained;
  timer_.Stop();
  loop_.Post(live_.Guard(std::exchange(done_, nullptr)));
}

}  // namespace vedette::lease
