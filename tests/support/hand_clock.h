#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace vedette::test {

// A clock that stands still until the test lets time pass. Any thread may read it.
class HandClock final : public base::Clock {
 public:
  static constexpr base::Timestamp kStart{std::chrono::seconds(1'700'000'000)};

  explicit HandClock(base::Timestamp start = kStart) : start_(start) {}

  base::Timestamp Now() const override {
    return start_ + std::chrono::floor<std::chrono::microseconds>(passed_.load());
  }
  std::chrono::nanoseconds SinceBoot() const override {
    return std::chrono::hours(1) + passed_.load();
  }
  void Pass(std::chrono::nanoseconds time) { passed_ = passed_.load() + time; }

 private:
  const base::Timestamp start_;
  std::atomic<std::chrono::nanoseconds> passed_{};
};

}  // namespace vedette::test
