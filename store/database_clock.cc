#include "store/database_clock.h"

#include <algorithm>

#include "store/sql.h"

namespace vedette::store {
namespace {

std::int64_t Micros(std::chrono::nanoseconds t) {
  return std::chrono::floor<std::chrono::microseconds>(t).count();
}

}  // namespace

base::Timestamp DatabaseClock::Now() const {
  const std::int64_t offset_us = offset_us_.load(std::memory_order_relaxed);
  if (offset_us == kUnknown) return own_.Now();
  return base::Timestamp(std::chrono::microseconds(offset_us + Micros(own_.SinceBoot())));
}

void DatabaseClock::Learn(base::Timestamp at, std::chrono::nanoseconds before,
                          std::chrono::nanoseconds after) {
  const std::int64_t at_us = at.time_since_epoch().count();
  const std::int64_t least = at_us - Micros(after);
  const std::int64_t most = at_us - Micros(before);
  const std::int64_t known = offset_us_.load(std::memory_order_relaxed);
  const std::int64_t middle = least + (most - least) / 2;
  offset_us_.store(known == kUnknown ? middle : std::clamp(known, least, most),
                   std::memory_order_relaxed);
}

void MeasureDatabaseClock(Session& session, DatabaseClock* clock) {
  Read(session, [&](Transaction& tx) {
    const auto before = clock->SinceBoot();
    const auto at = ReadOne<base::Timestamp>(tx.Exec<"database_clock">());
    clock->Learn(at, before, clock->SinceBoot());
    return true;
  });
}

}  // namespace vedette::store
