#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/backoff.h"
#include "domain/monitor/failure.h"

// When a row that failed is tried again.
namespace vedette::lease {

// Waits between attempts: 500 to 750 ms at first, doubling.
inline constexpr base::Backoff kRetryWait{std::chrono::milliseconds(625),
                                          std::chrono::milliseconds(640'000), 0.2};

// The wait of a row whose attempt was due while it was not known whether it may be worked on.
inline constexpr std::chrono::milliseconds kLookAgain{500};

// How long a row waits before its next attempt: nothing where the failure is its result, because it
// cannot pass, the attempts are used up, or the wait would end at its deadline or after it.
// `attempts` counts those that were made, at least 1; `left` is what is left until the deadline;
// `random` is uniform in [0, 1). Pure.
inline std::optional<std::chrono::milliseconds> WaitForRetry(const domain::Failure& failure,
                                                             int attempts, int attempts_max,
                                                             std::chrono::nanoseconds left,
                                                             double random) {
  if (!failure.retryable || attempts >= attempts_max) return std::nullopt;
  std::chrono::milliseconds wait = kRetryWait.Wait(attempts, random);
  if (failure.retry_after) wait = std::max(wait, *failure.retry_after);
  if (wait >= left) return std::nullopt;
  return wait;
}

}  // namespace vedette::lease
