#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vedette::domain {

// How a check ended. The numbers are stored, one byte a check, in row_state, tick and check_log:
// never renumber.
enum class Outcome : std::uint8_t {
  kChanged = 1,
  kUnchanged = 2,
  kFailed = 3,
  kSkippedBalance = 4,
  kSkippedSpendLimit = 5,
  kSkippedPaused = 6,
  kSkippedOverlap = 7,
  kInactive = 8,
};

inline constexpr int kOutcomeMax = 8;

// In the packed form: no outcome yet.
inline constexpr std::uint8_t kNoOutcome = 0;

// "changed", "skipped_balance", ...
std::string_view OutcomeName(Outcome outcome);

// Completed checks, and only they, advance last_run_at, are charged and have a completion event.
constexpr bool IsCompleted(Outcome outcome) {
  return outcome == Outcome::kChanged || outcome == Outcome::kUnchanged;
}

// Counts by outcome; index = the enum's number, [0] = without an outcome.
using OutcomeCounts = std::array<std::int64_t, kOutcomeMax + 1>;

// Adds one for every byte of the packed form. Unknown bytes count as "without an outcome".
void CountOutcomes(std::string_view packed, OutcomeCounts* counts);

}  // namespace vedette::domain
