#include "delivery/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/ids.h"

namespace vedette::delivery {
namespace {

using vedette::test::Id;

constexpr std::size_t kPerScan = 20;

// Endpoints 1 to `count`, all due; counts how often each was served.
struct Endpoints {
  explicit Endpoints(int count) {
    for (int n = 1; n <= count; ++n) ids.push_back(Id(n));
  }
  // A whole round that serves the first `serves` due ones it meets; the scans it took.
  int DoSweep(int serves) {
    visited.clear();
    for (int scans = 1;; ++scans) {
      auto it = std::upper_bound(ids.begin(), ids.end(), round.cursor());
      std::vector<base::Uuid> passed_over;
      base::Uuid next;
      for (std::size_t n = 0; n < kPerScan && it != ids.end(); ++n, ++it) {
        visited.insert(*it);
        if (serves > 0) {
          --serves;
          ++served[*it];
        } else {
          passed_over.push_back(*it);
        }
        if (n + 1 == kPerScan) next = *it;
      }
      if (!round.Scanned(next, passed_over, random)) return scans;
    }
  }

  ReceiverScan round;
  std::mt19937_64 random{1};
  std::vector<base::Uuid> ids;
  std::set<base::Uuid> visited;
  std::map<base::Uuid, int> served;
};

TEST(ReceiverScan, BeginsAtTheFirstAndEndsAtTheLast) {
  Endpoints e(50);
  EXPECT_EQ(e.DoSweep(50), 3);
  EXPECT_EQ(e.visited.size(), 50U);
  EXPECT_FALSE(e.round.passed_some_over());
  EXPECT_TRUE(e.round.cursor().is_nil());
}

TEST(ReceiverScan, G10_EachVisitsAllInBoundedWalksWhereverItBegins) {
  Endpoints e(50);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(e.DoSweep(1), 4) << "one more than from the first to the last";
    EXPECT_EQ(e.visited.size(), 50U);
    EXPECT_TRUE(e.round.passed_some_over());
  }
}

TEST(ReceiverScan, G10_WhatIsLeftForLackOfRoomGetsItsTurnWhereverItIs) {
  Endpoints e(50);
  for (int i = 0; i < 5000; ++i) e.DoSweep(1);
  for (const base::Uuid& id : e.ids) {
    EXPECT_GT(e.served[id], 50) << id.ToString() << ": a hundred would be its share";
    EXPECT_LT(e.served[id], 150) << id.ToString();
  }
}

}  // namespace
}  // namespace vedette::delivery
