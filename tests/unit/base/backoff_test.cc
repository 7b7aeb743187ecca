#include "base/backoff.h"

#include <gtest/gtest.h>

#include <random>

namespace vedette::base {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, WaitsDoubleUpToTheLongest) {
  const Backoff backoff{milliseconds(100), milliseconds(1000)};
  EXPECT_EQ(backoff.Wait(1), milliseconds(100));
  EXPECT_EQ(backoff.Wait(2), milliseconds(200));
  EXPECT_EQ(backoff.Wait(4), milliseconds(800));
  EXPECT_EQ(backoff.Wait(5), milliseconds(1000));
  EXPECT_EQ(backoff.Wait(1'000'000), milliseconds(1000));
}

TEST(Backoff, AFirstWaitBeyondTheLongestIsTheLongest) {
  EXPECT_EQ((Backoff{milliseconds(500), milliseconds(200)}.Wait(1)), milliseconds(200));
}

TEST(Backoff, JitterIsAShareOfEachWaitInBothDirections) {
  const Backoff backoff{milliseconds(1000), milliseconds(4000), 0.2};
  EXPECT_EQ(backoff.Wait(1, 0), milliseconds(800));
  EXPECT_EQ(backoff.Wait(1, 0.5), milliseconds(1000));
  EXPECT_EQ(backoff.Wait(9, 0), milliseconds(3200));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const auto wait = backoff.Wait(9, uniform(random));
    EXPECT_GE(wait, milliseconds(3200));
    EXPECT_LE(wait, milliseconds(4800));
  }
}

}  // namespace
}  // namespace vedette::base
