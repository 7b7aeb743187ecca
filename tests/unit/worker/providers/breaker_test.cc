#include "worker/providers/provider_set.h"

#include <gtest/gtest.h>

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;

TEST(Breaker, OpensAfterSoManyFailuresInARow) {
  Breaker breaker(3, 30s);
  breaker.Failed(1s);
  breaker.Failed(1s);
  breaker.Answered();
  breaker.Failed(2s);
  breaker.Failed(2s);
  EXPECT_FALSE(breaker.IsOpen(2s)) << "an answer was between them";
  breaker.Failed(3s);
  EXPECT_TRUE(breaker.IsOpen(3s));
  EXPECT_TRUE(breaker.IsOpen(33s - 1ns));
  EXPECT_FALSE(breaker.IsOpen(33s));
}

TEST(Breaker, OneFailureOnTrialOpensItAgainAndOneAnswerClosesIt) {
  Breaker breaker(3, 30s);
  for (int i = 0; i < 3; ++i) breaker.Failed(0s);
  EXPECT_FALSE(breaker.IsOpen(30s));
  breaker.Failed(31s);
  EXPECT_TRUE(breaker.IsOpen(60s));
  EXPECT_FALSE(breaker.IsOpen(61s));
  breaker.Answered();
  breaker.Failed(62s);
  breaker.Failed(62s);
  EXPECT_FALSE(breaker.IsOpen(62s));
}

TEST(Breaker, FailuresOfWhatWasUnderWayDoNotProlongIt) {
  Breaker breaker(1, 30s);
  breaker.Failed(0s);
  breaker.Failed(20s);
  EXPECT_FALSE(breaker.IsOpen(30s));
}

}  // namespace
}  // namespace vedette::worker
