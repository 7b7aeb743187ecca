#include "domain/job/block_progress.h"

#include <gtest/gtest.h>

#include "domain/job/job.h"
#include "domain/monitor/chunk_plan.h"

namespace vedette::domain {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kGuess{5000};

int PartRows(std::int64_t rows, milliseconds each) {
  const RowsTimed measured{rows, rows * microseconds(each)};
  return ChunkRowsFor(PaceOf(measured, kGuess), seconds(10), kPartRowsMax);
}

TEST(Pace, IsTheGuessWhereNothingWasMeasured) {
  EXPECT_EQ(PaceOf({}, kGuess), kGuess);
  EXPECT_EQ(PaceOf({}, milliseconds(0)), milliseconds(0));
}

TEST(Pace, TheGuessCountsForAFewRows) {
  EXPECT_EQ(PaceOf({kPaceGuessRows, seconds(8)}, kGuess), milliseconds(3000));
  EXPECT_EQ(PaceOf({kPaceGuessRows, microseconds(0)}, kGuess), milliseconds(2500));
}

TEST(Pace, IsRoundedUpSoThatQuickRowsStillTakeTime) {
  EXPECT_EQ(PaceOf({1'000'000'000, microseconds(1)}, kGuess), milliseconds(1));
}

TEST(Pace, PartsOfQuickRowsGrowStepByStepToTheirLimit) {
  int before = 0;
  for (const int rows : {0, 10, 100, 500, 2'000}) {
    const int part_rows = PartRows(rows, milliseconds(1));
    EXPECT_GT(part_rows, before) << rows;
    before = part_rows;
  }
  EXPECT_EQ(PartRows(0, milliseconds(1)), 2);
  EXPECT_EQ(before, kPartRowsMax);
  EXPECT_EQ(PartRows(1'000'000, milliseconds(1)), kPartRowsMax);
}

TEST(Pace, PartsOfSlowRowsStaySmall) {
  EXPECT_EQ(PartRows(10'000, seconds(4)), 2);
  EXPECT_EQ(PartRows(10'000, seconds(600)), 1) << "a part has a row at least";
}

}  // namespace
}  // namespace vedette::domain
