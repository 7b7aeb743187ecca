#include "base/byte_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/ids.h"

namespace vedette::base {
namespace {

using vedette::test::Id;

const std::function<void()> kNever = [] { FAIL() << "it did not have to wait"; };

TEST(ByteBudgetTest, G11_OverTheTotalHoldersWaitAndGoOnAsBytesComeBack) {
  ByteBudget budget(1000, 0.1);
  auto privileged = budget.Open(Id(1));
  auto first = budget.Open(Id(1));
  auto second = budget.Open(Id(2));
  ASSERT_TRUE(first.Take(800, kNever));
  ASSERT_TRUE(privileged.Take(300, kNever));  // nothing is free: it is the one that may go on
  bool went = false;
  EXPECT_FALSE(second.Take(300, [&] { went = true; }));
  EXPECT_EQ(budget.usage().waiting, 1u);
  first.GiveBack(700);
  EXPECT_TRUE(went);
  EXPECT_EQ(second.bytes(), 300u);
  EXPECT_EQ(budget.usage().used, 100u + 300u + 300u);
  EXPECT_EQ(budget.usage().waiting, 0u);
}

TEST(ByteBudgetTest, HoldersThatAllWaitForEachOtherGoOnOneAtATime) {
  ByteBudget budget(100, 0.1);
  std::vector<int> finished;
  std::vector<ByteBudget::Holding> pages;
  for (std::uint8_t i = 0; i < 4; ++i) pages.push_back(budget.Open(Id(i)));
  for (auto& page : pages) ASSERT_TRUE(page.Take(25, kNever));
  for (int i = 0; i < 4; ++i) {
    const bool now = pages[static_cast<std::size_t>(i)].Take(50, [&, i] { finished.push_back(i); });
    if (now) finished.push_back(i);
  }
  EXPECT_EQ(finished, std::vector<int>{0});
  pages[0] = {};
  EXPECT_EQ(finished, (std::vector<int>{0, 1}));
  pages[1] = {};
  EXPECT_EQ(finished, (std::vector<int>{0, 1, 2}));
  pages[2] = {};
  EXPECT_EQ(finished, (std::vector<int>{0, 1, 2, 3}));
}

TEST(ByteBudgetTest, G10_AnOrganisationThatHoldsNothingPassesANeighboursQueue) {
  ByteBudget budget(1000, 0.1);
  auto greedy = budget.Open(Id(1));
  auto more = budget.Open(Id(1));
  auto waits = budget.Open(Id(1));
  ASSERT_TRUE(greedy.Take(900, kNever));
  ASSERT_TRUE(more.Take(50, kNever));  // privileged
  ASSERT_FALSE(waits.Take(50, [] {}));
  auto newcomer = budget.Open(Id(2));
  EXPECT_TRUE(newcomer.Take(40, kNever));
}

// Uploads that never end keep the privilege as long as they like.
TEST(ByteBudgetTest, G10_WhatTheOneThatMayAlwaysGoOnTakesLeavesTheRoomThatIsKeptForOthers) {
  ByteBudget budget(1000, 0.1);
  auto greedy = budget.Open(Id(1));
  auto privileged = budget.Open(Id(1));
  auto neighbour = budget.Open(Id(2));
  ASSERT_TRUE(greedy.Take(850, kNever));
  ASSERT_TRUE(privileged.Take(300, kNever));
  EXPECT_TRUE(neighbour.Take(50, kNever));
  EXPECT_TRUE(neighbour.Take(50, kNever));
  EXPECT_EQ(budget.usage().used, 850u + 300u + 100u);
  privileged.GiveBack(200);
  greedy = {};
  privileged = {};
  EXPECT_EQ(budget.usage().used, 100u);
  auto next = budget.Open(Id(3));
  EXPECT_TRUE(next.Take(800, kNever)) << "nothing is forgotten to be counted";
  EXPECT_FALSE(neighbour.TryTake(200));
}

TEST(ByteBudgetTest, WhoeverGivesUpWaitsNoMore) {
  ByteBudget budget(100, 0.1);
  auto a = budget.Open(Id(1));
  auto b = budget.Open(Id(1));
  ASSERT_TRUE(a.Take(100, kNever));
  ASSERT_TRUE(b.Take(100, kNever));  // privileged
  {
    auto gone = budget.Open(Id(2));
    EXPECT_FALSE(gone.Take(10, [] { FAIL() << "it was given up"; }));
  }
  EXPECT_EQ(budget.usage().waiting, 0u);
  a = {};
  b = {};
  EXPECT_EQ(budget.usage().used, 0u);
}

TEST(ByteBudgetTest, TryTakeNeverWaits) {
  ByteBudget budget(100, 0.1);
  auto a = budget.Open(Id(1));
  EXPECT_TRUE(a.TryTake(80));
  EXPECT_FALSE(a.TryTake(40));
  EXPECT_EQ(budget.usage().used, 80u);
}

// Threads that grow and let go at random: everything comes back, everyone gets on.
TEST(ByteBudgetTest, G11_ThreadsThatGrowAtRandomAllFinish) {
  ByteBudget budget(10000, 0.1);
  std::atomic<int> done{0};
  std::atomic<std::size_t> most{0};
  std::vector<std::thread> threads;
  for (std::uint8_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 500; ++i) {
        auto holding = budget.Open(Id(t));
        for (int step = 0; step < 8; ++step) {
          std::atomic<bool> granted{false};
          if (!holding.Take(1 + random() % 1000, [&] {
                granted = true;
                granted.notify_one();
              })) {
            granted.wait(false);
          }
          const std::size_t used = budget.usage().used;
          for (std::size_t m = most; m < used && !most.compare_exchange_weak(m, used);) {
          }
        }
        ++done;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 2000);
  EXPECT_EQ(budget.usage().used, 0u);
  EXPECT_LE(most, 10000u + 8 * 1000u);
}

}  // namespace
}  // namespace vedette::base
