#include "domain/next_run_times.h"

namespace vedette::domain {

DueSlots CollapseDueSlots(base::Timestamp next_run_at, std::chrono::seconds frequency,
                          base::Timestamp now) {
  // A clock behind next_run_at is a caller's mistake; the slot asked about still stands for itself.
  const std::int64_t passed = now > next_run_at ? (now - next_run_at) / frequency : 0;
  return DueSlots{next_run_at, passed + 1, next_run_at + frequency * (passed + 1)};
}

base::Timestamp FirstSlotAfter(base::Timestamp anchor, std::chrono::seconds frequency,
                               base::Timestamp now) {
  if (now < anchor) return anchor;
  return anchor + frequency * ((now - anchor) / frequency + 1);
}

std::vector<base::Timestamp> NextRunTimes(base::Timestamp next_run_at,
                                          std::chrono::seconds frequency, int count) {
  std::vector<base::Timestamp> times;
  times.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) times.push_back(next_run_at + frequency * k);
  return times;
}

}  // namespace vedette::domain
