#include "base/assert.h"

#include <gtest/gtest.h>

namespace vedette::base {
namespace {

TEST(AssertTest, WhatHoldsGoesOn) {
  Assert(true, "one is one");
}

TEST(AssertDeathTest, WhatDoesNotHoldEndsTheProcessAndNamesTheSentenceAndThePlace) {
  EXPECT_DEATH(Assert(false, "a count never goes below zero"),
               "an invariant does not hold: a count never goes below zero .*assert_test.cc");
}

}  // namespace
}  // namespace vedette::base
