#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {

// The time that one attempt has. Waits, for room in a budget and for turns, are no time
// of it: each moves the deadline by as much. Reads no clock: `now` is since boot, as of Clock. A
// value; one thread.
class AttemptTime {
 public:
  AttemptTime() = default;
  AttemptTime(std::chrono::nanoseconds now, std::chrono::milliseconds timeout)
      : deadline_(now + timeout) {}

  // The attempt waited for room. Its next turn tells of it.
  void WaitedForRoom(std::chrono::milliseconds waited) {
    base::Assert(waited.count() >= 0, "a wait is never shorter than nothing");
    deadline_ += waited;
    since_turn_ += waited;
  }

  // The attempt waited for its turn. Returns that together with its waits since the last turn.
  std::chrono::milliseconds WaitedForTurn(std::chrono::milliseconds waited) {
    base::Assert(waited.count() >= 0, "a wait is never shorter than nothing");
    deadline_ += waited;
    return waited + std::exchange(since_turn_, std::chrono::milliseconds(0));
  }

  // Negative once the deadline has passed.
  std::chrono::milliseconds Left(std::chrono::nanoseconds now) const {
    return std::chrono::floor<std::chrono::milliseconds>(deadline_ - now);
  }
  // The same as a request's timeout, which is at least a millisecond.
  std::chrono::milliseconds Timeout(std::chrono::nanoseconds now) const {
    return std::max(Left(now), std::chrono::milliseconds(1));
  }

 private:
  std::chrono::nanoseconds deadline_{};     // since boot
  std::chrono::milliseconds since_turn_{};  // what it waited for room since its last turn
};

}  // namespace vedette::worker
