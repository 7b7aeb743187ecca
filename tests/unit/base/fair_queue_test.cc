#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/fair_share.h"

namespace vedette::base {
namespace {

std::vector<std::string> PopAll(FairQueue<std::string, std::string>& queue) {
  std::vector<std::string> order;
  while (auto item = queue.Pop()) order.push_back(*item);
  return order;
}

TEST(FairQueueTest, G10_KeysTakeTurnsHoweverLongANeighboursBacklogIs) {
  FairQueue<std::string, std::string> queue;
  for (const char* item : {"a1", "a2", "a3"}) queue.Push("a", item);
  queue.Push("b", "b1");
  queue.Push("c", "c1");
  queue.Push("b", "b2");
  EXPECT_EQ(PopAll(queue), (std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"}));
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueueTest, G10_TurnsAreByCostWhereItIsTold) {
  FairQueue<std::string, std::string> queue;
  for (const char* key : {"a", "b", "c"}) {
    for (int i = 0; i < 3; ++i) queue.Push(key, key);
  }
  EXPECT_EQ(queue.Pop(), "a");
  EXPECT_EQ(queue.Pop(), "b");
  queue.Push("d", "d");
  queue.Charge("a", 5);
  queue.Charge("b", 5);
  EXPECT_EQ(queue.Pop(), "c");
  EXPECT_EQ(queue.Pop(), "d") << "it has used nothing, and came before a and b were through";
  queue.Charge("c", 1);
  queue.Charge("d", 3);
  queue.Push("d", "d");
  EXPECT_EQ(PopAll(queue), (std::vector<std::string>{"c", "c", "d", "a", "b", "a", "b"}));
  // What was used once counts no longer when the others have used as much.
  queue.Push("e", "e");
  queue.Push("a", "a");
  EXPECT_EQ(PopAll(queue), (std::vector<std::string>{"e", "a"}));
}

TEST(FairQueueTest, WhoMayNotGoKeepsItsPlace) {
  FairQueue<std::string, std::string> queue;
  queue.Push("a", "a1");
  queue.Push("b", "b1");
  const auto not_a = [](const std::string& key, const std::string&) { return key != "a"; };
  EXPECT_EQ(queue.PopIf(not_a), "b1");
  EXPECT_EQ(queue.PopIf(not_a), std::nullopt);
  queue.Push("b", "b2");
  EXPECT_EQ(PopAll(queue), (std::vector<std::string>{"a1", "b2"}));
}

TEST(FairQueueTest, ErasesWhatIsGone) {
  FairQueue<std::string, std::string> queue;
  queue.Push("a", "x");
  queue.Push("a", "y");
  queue.Push("b", "x");
  queue.EraseIf([](const std::string& item) { return item == "x"; });
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.keys(), 1u);
  EXPECT_EQ(queue.size_of("a"), 1u);
  EXPECT_EQ(queue.size_of("b"), 0u);
  EXPECT_EQ(PopAll(queue), std::vector<std::string>{"y"});
}

// How much each of `keys` greedy keys ends up with when all take one unit in turn.
std::vector<std::size_t> GreedyShares(std::size_t keys, std::size_t total, double reserve) {
  std::vector<std::size_t> held(keys, 0);
  std::size_t used = 0;
  for (bool any = true; any;) {
    any = false;
    for (auto& h : held) {
      if (!MayTakeMore(h, used, total, reserve)) continue;
      ++h;
      ++used;
      any = true;
    }
  }
  return held;
}

TEST(FairShareTest, OneThatIsAloneLeavesTheReserve) {
  EXPECT_EQ(GreedyShares(1, 4096, 0.1), std::vector<std::size_t>{3687});
}

TEST(FairShareTest, G10_GreedyKeysShareEquallyAndLeaveRoomForTheNext) {
  for (std::size_t keys = 2; keys <= 40; ++keys) {
    const auto held = GreedyShares(keys, 4096, 0.1);
    std::size_t used = 0;
    for (const std::size_t h : held) {
      used += h;
      EXPECT_NEAR(static_cast<double>(h), static_cast<double>(held.front()), 1.0);
    }
    EXPECT_GE(4096 - used, 4096 / (1 + 9 * keys));
    EXPECT_TRUE(MayTakeMore(0, used, 4096, 0.1));
  }
}

TEST(FairShareTest, NothingIsTakenOfNothing) {
  EXPECT_FALSE(MayTakeMore(0, 8, 8, 0.1));
  EXPECT_TRUE(MayTakeMore(0, 7, 8, 0.1));
}

}  // namespace
}  // namespace vedette::base
