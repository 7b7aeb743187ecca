#include "api/tenant/jobs/waits.h"

#include <gtest/gtest.h>

namespace vedette::api {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(LookPaceTest, TheFirstLookBeginsWhenItIsWanted) {
  EXPECT_EQ(LookPace().From(milliseconds(0)), milliseconds(0));
}

TEST(LookPaceTest, ALookThatIsWantedLateWaitsForNothing) {
  LookPace pace;
  pace.Began(milliseconds(100));
  pace.Ended(milliseconds(1));
  EXPECT_EQ(pace.From(milliseconds(500)), milliseconds(500));
}

TEST(LookPaceTest, LooksTakeATenthOfTheTimeOfAConnection) {
  LookPace pace;
  pace.Began(milliseconds(100));
  pace.Ended(microseconds(600));
  EXPECT_EQ(pace.From(milliseconds(101)), milliseconds(106));
}

TEST(LookPaceTest, TheGapIsAtLeastTwoAndAtMostTwentyMilliseconds) {
  LookPace pace;
  pace.Began(milliseconds(100));
  EXPECT_EQ(pace.From(milliseconds(100)), milliseconds(102))
      << "nobody knows yet how long it takes";
  pace.Ended(microseconds(1));
  EXPECT_EQ(pace.From(milliseconds(101)), milliseconds(102));
  pace.Began(milliseconds(200));
  pace.Ended(milliseconds(700));
  EXPECT_EQ(pace.From(milliseconds(201)), milliseconds(220));
}

}  // namespace
}  // namespace vedette::api
