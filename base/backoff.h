#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/assert.h"

namespace vedette::base {

// The waits between tries of one thing: `first` after the first failure, twice as long after each
// further one, and never longer than `max`. Each wait is longer or shorter by up to `jitter` of
// itself, so that processes which failed together do not come back together. A value: the caller
// counts the failures and hands in the randomness.
struct Backoff {
  std::chrono::milliseconds first{};
  std::chrono::milliseconds max{};  // before the jitter is applied
  double jitter = 0;                // +- share of the wait, 0 to 1

  // `failures` in a row, at least 1. `random` is uniform in [0, 1); 0.5 gives the wait without
  // jitter.
  std::chrono::milliseconds Wait(int failures, double random = 0.5) const {
    Assert(failures >= 1, "a wait follows a failure");
    // 2^40 times any first wait is beyond any maximum; a longer shift would overflow.
    const int doublings = std::min(failures - 1, 40);
    const double wait_ms =
        std::min(static_cast<double>(first.count()) * static_cast<double>(1LL << doublings),
                 static_cast<double>(max.count()));
    const double factor = 1 + jitter * (2 * random - 1);
    return std::chrono::milliseconds(static_cast<std::int64_t>(wait_ms * factor));
  }
};

}  // namespace vedette::base
