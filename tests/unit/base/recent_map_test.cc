#include "base/recent_map.h"

#include <gtest/gtest.h>

#include <optional>

namespace vedette::base {
namespace {

TEST(RecentMap, KnowsAtMostItsLimitAndHalfOfItAtLeast) {
  RecentMap<int, int> map(8);
  for (int i = 0; i < 100; ++i) map.Insert(i, i);
  int known = 0;
  for (int i = 0; i < 96; ++i) known += map.Find(i) ? 1 : 0;
  EXPECT_LE(known, 4);
  for (int i = 97; i < 100; ++i) EXPECT_EQ(map.Find(i), i);
}

TEST(RecentMap, WhatIsUsedStays) {
  RecentMap<int, int> map(8);
  map.Insert(-1, 7);
  for (int i = 0; i < 100; ++i) {
    map.Insert(i, i);
    EXPECT_EQ(map.Find(-1), 7) << i;
  }
}

TEST(RecentMap, HasTheLastValueAndNoneOfWhatIsErased) {
  RecentMap<int, int> map(4);
  map.Insert(1, 1);
  map.Insert(2, 2);
  map.Insert(3, 3);  // 1 and 2 are older now
  map.Insert(1, 5);
  EXPECT_EQ(map.Find(1), 5);
  map.Erase(1);
  map.Erase(2);
  EXPECT_EQ(map.Find(1), std::nullopt);
  EXPECT_EQ(map.Find(2), std::nullopt);
}

}  // namespace
}  // namespace vedette::base
