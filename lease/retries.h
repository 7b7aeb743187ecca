#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/event_loop.h"
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

// Rows between two attempts. Loop thread only; everything handed in must outlive this object.
template <typename Row>
class Retries {
 public:
  // `retry` is called with each row once its wait is over; it may call Add.
  Retries(base::EventLoop& loop, const base::Clock& clock, std::function<void(const Row&)> retry)
      : clock_(clock), retry_(std::move(retry)), timer_(loop, [this] { Run(); }) {}

  void Add(Row row, std::chrono::milliseconds wait) {
    rows_.emplace(clock_.SinceBoot() + wait, std::move(row));
    StartTimer();
  }

  // Takes the rows of which `drop(row)` holds out of those that wait.
  template <typename Drop>
  std::vector<Row> TakeIf(Drop drop) {
    std::vector<Row> taken;
    for (auto it = rows_.begin(); it != rows_.end();) {
      const bool drops = drop(std::as_const(it->second));
      if (drops) taken.push_back(std::move(it->second));
      it = drops ? rows_.erase(it) : std::next(it);
    }
    return taken;
  }

 private:
  void Run() {
    const auto now = clock_.SinceBoot();
    std::vector<Row> due;
    while (!rows_.empty() && rows_.begin()->first <= now) {
      due.push_back(std::move(rows_.begin()->second));
      rows_.erase(rows_.begin());
    }
    for (const Row& row : due) retry_(row);
    StartTimer();
  }

  void StartTimer() {
    if (rows_.empty()) return;
    const auto wait = rows_.begin()->first - clock_.SinceBoot();
    timer_.Start(
        std::max(std::chrono::ceil<std::chrono::milliseconds>(wait), std::chrono::milliseconds(0)));
  }

  const base::Clock& clock_;
  const std::function<void(const Row&)> retry_;
  std::multimap<std::chrono::nanoseconds, Row> rows_;  // by time since boot
  base::Timer timer_;
};

}  // namespace vedette::lease
