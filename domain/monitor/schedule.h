#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

// The schedule of a monitor: slots at anchor + k x frequency for k = 0, 1, 2, ... No drift,
// whatever runs late. Pure; `now` is the database's clock.
namespace vedette::domain {

// Ticks are cut, and their chunks claimed, this long before their slot, so that a check begins with
// its slot and not some round trips behind it.
inline constexpr std::chrono::milliseconds kCutAhead{20};

struct DueSlots {
  // The earliest slot not yet accounted for: the tick's due_at.
  base::Timestamp due_at;
  // Slots from next_run_at to now, both included, collapsed into this one tick. At least 1.
  std::int64_t slots;
  // The first slot after now.
  base::Timestamp next_run_at;
};

// What is due of a monitor whose next unaccounted slot is `next_run_at`. Requires next_run_at <=
// now.
DueSlots CollapseDueSlots(base::Timestamp next_run_at, std::chrono::seconds frequency,
                          base::Timestamp now);

// The first slot strictly after `now`: after a resume or a changed frequency. The anchor is in the
// past or the future; slots before the anchor do not exist.
base::Timestamp FirstSlotAfter(base::Timestamp anchor, std::chrono::seconds frequency,
                               base::Timestamp now);

// A duration as the API and the configuration write it: ^[1-9][0-9]*(m|h|d|w)$, also "s" where
// `seconds_allowed`. Empty for anything else and for more than 100 years.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text, bool seconds_allowed);

}  // namespace vedette::domain
