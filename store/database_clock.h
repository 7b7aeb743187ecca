#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "store/session.h"

namespace vedette::store {

// The database's clock, as far as a process can know it without asking: what the process stores or
// orders by (ids, times of attempts, ages) goes by one clock, whatever its own wall clock says. The
// difference between the database's clock and the time since boot is measured again and again.
// Before the first measurement this is the process's own clock. Any thread.
class DatabaseClock final : public base::Clock {
 public:
  // `own` outlives this.
  explicit DatabaseClock(const base::Clock& own) : own_(own) {}

  base::Timestamp Now() const override;
  std::chrono::nanoseconds SinceBoot() const override { return own_.SinceBoot(); }

  // The database's clock showed `at` somewhere between two moments since boot. What was known stays
  // where it agrees with that, so that a slow answer does not move the clock.
  void Learn(base::Timestamp at, std::chrono::nanoseconds before, std::chrono::nanoseconds after);

 private:
  static constexpr std::int64_t kUnknown = INT64_MIN;
  const base::Clock& own_;
  std::atomic<std::int64_t> offset_us_{kUnknown};  // the database's clock minus the time since boot
};

// Asks the database. Throws as InTransaction does.
void MeasureDatabaseClock(Session& session, DatabaseClock* clock);

}  // namespace vedette::store
