#include "lease/holdings.h"

#include <gtest/gtest.h>

namespace vedette::lease {
namespace {

TEST(Counts, WhatIsFreeIsNeverLessThanNothing) {
  EXPECT_EQ(LeftOf(10, 3), 7U);
  EXPECT_EQ(LeftOf(3, 3), 0U);
  EXPECT_EQ(LeftOf(3, 10), 0U) << "a limit may be lowered below what is held";
}

TEST(CountsDeathTest, ACountNeverGoesBelowZero) {
  std::size_t count = 3;
  TakeFrom(&count, 2, "No more leave than are held.");
  EXPECT_EQ(count, 1U);
  EXPECT_DEATH(TakeFrom(&count, 2, "No more leave than are held."), "No more leave than are held");
}

}  // namespace
}  // namespace vedette::lease
