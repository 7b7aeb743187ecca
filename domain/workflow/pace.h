#pragma once

#include <chrono>
#include <cstdint>

// How long a row of a block takes, as far as that is known when a run is cut into parts. Pure.
namespace vedette::domain {

// Rows that were worked from start to end without an error, and how long they took together.
struct RowsTimed {
  std::int64_t rows = 0;
  std::chrono::microseconds took{};
};

// So many rows a guess counts for.
inline constexpr int kPaceGuessRows = 8;

// The mean of what was measured and of a guess that counts for kPaceGuessRows rows: where nothing
// was measured it is the guess, and a few quick rows do not make large parts yet. Rounded up to
// milliseconds. Requires rows and a duration that are not negative.
std::chrono::milliseconds PaceOf(const RowsTimed& measured, std::chrono::milliseconds guess);

}  // namespace vedette::domain
