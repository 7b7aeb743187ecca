#include "domain/monitor/schedule.h"

#include <cstdint>

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

namespace {

std::int64_t UnitSeconds(char unit, bool seconds_allowed) {
  switch (unit) {
    case 's':
      return seconds_allowed ? 1 : 0;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    case 'w':
      return 7 * 86400;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::chrono::seconds> ParseDuration(std::string_view text, bool seconds_allowed) {
  constexpr std::int64_t kSecondsMax = std::int64_t{100} * 365 * 86400;
  if (text.size() < 2 || text[0] == '0') return std::nullopt;
  const std::int64_t unit = UnitSeconds(text.back(), seconds_allowed);
  if (unit == 0) return std::nullopt;
  std::int64_t count = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + (c - '0');
    if (count > kSecondsMax) return std::nullopt;  // before the sum can overflow
  }
  if (count > kSecondsMax / unit) return std::nullopt;
  return std::chrono::seconds(count * unit);
}

}  // namespace vedette::domain
