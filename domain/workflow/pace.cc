#include "domain/workflow/pace.h"

#include "base/assert.h"

namespace vedette::domain {

std::chrono::milliseconds PaceOf(const RowsTimed& measured, std::chrono::milliseconds guess) {
  base::Assert(measured.rows >= 0 && measured.took.count() >= 0, "What was measured was there.");
  const std::chrono::microseconds together = measured.took + kPaceGuessRows * guess;
  const std::int64_t rows = measured.rows + kPaceGuessRows;
  const std::chrono::microseconds each{(together.count() + rows - 1) / rows};
  return std::chrono::ceil<std::chrono::milliseconds>(each);
}

}  // namespace vedette::domain
