#include "lease/retries.h"

#include <gtest/gtest.h>

namespace vedette::lease {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

domain::Failure Timeout(std::optional<milliseconds> retry_after = std::nullopt) {
  return {"timeout", "The page took too long.", true, retry_after};
}

TEST(WaitForRetry, DoublesFromHalfASecondAndIsLongerByUpToHalf) {
  EXPECT_EQ(WaitForRetry(Timeout(), 1, 9, seconds(100), 0.0), milliseconds(500));
  EXPECT_EQ(WaitForRetry(Timeout(), 2, 9, seconds(100), 0.0), milliseconds(1000));
  EXPECT_EQ(WaitForRetry(Timeout(), 3, 9, seconds(100), 0.5), milliseconds(2500));
  EXPECT_LE(WaitForRetry(Timeout(), 1, 9, seconds(100), 0.999), milliseconds(750));
}

TEST(WaitForRetry, IsAtLeastWhatTheHostAsksFor) {
  EXPECT_EQ(WaitForRetry(Timeout(seconds(7)), 1, 9, seconds(100), 0.5), seconds(7));
  EXPECT_GT(WaitForRetry(Timeout(milliseconds(1)), 1, 9, seconds(100), 0.5), milliseconds(499));
}

TEST(WaitForRetry, EndsWithTheAttemptsTheDeadlineAndWhatCannotPass) {
  EXPECT_EQ(WaitForRetry(Timeout(), 3, 3, seconds(100), 0.5), std::nullopt);
  EXPECT_EQ(WaitForRetry(Timeout(), 1, 3, milliseconds(500), 0.0), std::nullopt);
  EXPECT_EQ(WaitForRetry(Timeout(), 1, 3, milliseconds(501), 0.0), milliseconds(500));
  EXPECT_EQ(WaitForRetry({"no_address", "", false, {}}, 1, 3, seconds(100), 0.5), std::nullopt);
}

}  // namespace
}  // namespace vedette::lease
