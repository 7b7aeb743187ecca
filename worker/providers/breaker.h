#pragma once

#include <chrono>

#include "base/assert.h"

namespace vedette::worker {

// Leaves a provider out for a while that failed several times in a row, in one process.
//
//   closed --`failures_max` failures in a row--> open --after `open_for`--> on trial
//     ^                                           ^                            |
//     |                                           +--------one failure---------+
//     +-----------------------------one answer---------------------------------+
//
// On trial everything is let through until the first answer or failure comes back. No clock, no
// lock: one thread, and time is handed in (base::Clock::SinceBoot).
class Breaker {
 public:
  Breaker(int failures_max, std::chrono::milliseconds open_for)
      : failures_max_(failures_max), open_for_(open_for) {
    base::Assert(failures_max > 0, "a breaker opens after at least one failure");
  }

  bool IsOpen(std::chrono::nanoseconds now) const {
    return failures_ >= failures_max_ && now < opened_at_ + open_for_;
  }

  int failures() const { return failures_; }

  void Answered() { failures_ = 0; }
  void Failed(std::chrono::nanoseconds now) {
    // Failures of what was under way when it opened do not prolong it.
    if (IsOpen(now)) return;
    if (failures_ < failures_max_) ++failures_;
    if (failures_ == failures_max_) opened_at_ = now;
  }

 private:
  const int failures_max_;
  const std::chrono::milliseconds open_for_;
  int failures_ = 0;  // in a row, counted up to failures_max_
  std::chrono::nanoseconds opened_at_{};
};

}  // namespace vedette::worker
