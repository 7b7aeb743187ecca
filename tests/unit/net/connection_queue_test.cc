#include "net/connection_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/ids.h"

namespace vedette::net {
namespace {

using std::chrono::milliseconds;
using vedette::test::Id;
using TimePoint = ConnectionQueue::TimePoint;

const base::Uuid kA = Id(1);
const base::Uuid kB = Id(2);
const base::Uuid kC = Id(3);
const TimePoint kNow{};

// Ids below 1000 are A's, below 2000 B's and so on.
base::Uuid OrgOf(ConnectionQueue::Id id) {
  return Id(static_cast<int>(id / 1000) + 1);
}

std::vector<ConnectionQueue::Id> PopAll(ConnectionQueue& queue, TimePoint now = kNow) {
  std::vector<ConnectionQueue::Id> ids;
  while (const auto id = queue.Pop(now)) ids.push_back(*id);
  return ids;
}

using Ids = std::vector<ConnectionQueue::Id>;

TEST(ConnectionQueue, G10_OneThatIsAloneUsesAllConnectionsOfAHost) {
  ConnectionQueue queue({10, 4, {}});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.TryTake("h", kA, kNow));
  EXPECT_FALSE(queue.TryTake("h", kA, kNow));
  EXPECT_TRUE(queue.TryTake("other", kA, kNow));
}

TEST(ConnectionQueue, G10_ANewcomerGetsTheNextConnectionsOfAHostUntilItHoldsItsShare) {
  ConnectionQueue queue({100, 4, {}});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.TryTake("h", kA, kNow));
  for (int i = 0; i < 50; ++i) queue.Push("h", kA, static_cast<unsigned>(i), kNow);
  for (int i = 0; i < 20; ++i) queue.Push("h", kB, static_cast<unsigned>(1000 + i), kNow);
  EXPECT_EQ(PopAll(queue), Ids{});
  queue.Release("h", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1000});
  queue.Release("h", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1001}) << "two each now";
  queue.Release("h", kB, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1002}) << "B's fast answers do not go to A's backlog";
  queue.Release("h", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{0}) << "nor does B take more than its share";
}

TEST(ConnectionQueue, G10_WhereAllConnectionsAreInUseTheNextGoesToWhoHoldsFewestInAll) {
  ConnectionQueue queue({6, 4, {}});
  for (const char* host : {"a1", "a2", "a3", "a4", "a5"}) {
    ASSERT_TRUE(queue.TryTake(host, kA, kNow));
  }
  ASSERT_TRUE(queue.TryTake("b1", kB, kNow));
  for (unsigned i = 0; i < 50; ++i) queue.Push("a" + std::to_string(i), kA, i, kNow);
  queue.Push("b2", kB, 1000, kNow);
  queue.Push("b3", kB, 1001, kNow);
  queue.Push("c1", kC, 2000, kNow);
  queue.Release("a1", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{2000});
  queue.Release("a2", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1000});
  queue.Release("c1", kC, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1001});
}

TEST(ConnectionQueue, G10_AHostsBacklogDoesNotStandBeforeTheSameOrganisationsOtherHosts) {
  ConnectionQueue queue({2, 1, {}});
  ASSERT_TRUE(queue.TryTake("busy", kA, kNow));
  ASSERT_TRUE(queue.TryTake("other", kA, kNow));
  for (unsigned i = 0; i < 9; ++i) queue.Push("busy", kA, i, kNow);
  queue.Push("third", kA, 100, kNow);
  queue.Push("fourth", kA, 101, kNow);
  queue.Release("other", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{100});
  queue.Release("busy", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{101}) << "hosts take turns";
  queue.Release("third", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{0});
}

TEST(ConnectionQueue, AHostRestsForItsGap) {
  ConnectionQueue queue({10, 4, milliseconds(100)});
  EXPECT_TRUE(queue.TryTake("h", kA, kNow));
  EXPECT_FALSE(queue.TryTake("h", kA, kNow));
  queue.Push("h", kA, 1, kNow);
  EXPECT_EQ(queue.Pop(kNow), std::nullopt);
  ASSERT_EQ(queue.next_wake(), kNow + milliseconds(100));
  EXPECT_EQ(queue.Pop(kNow + milliseconds(99)), std::nullopt);
  EXPECT_EQ(queue.Pop(kNow + milliseconds(100)), 1u);
  EXPECT_TRUE(queue.TryTake("other", kA, kNow));
}

TEST(ConnectionQueue, WhoHasGoneIsNotStarted) {
  ConnectionQueue queue({1, 1, {}});
  ASSERT_TRUE(queue.TryTake("h", kA, kNow));
  for (unsigned i = 0; i < 3; ++i) queue.Push("h", kA, i, kNow);
  queue.Push("h", kB, 1000, kNow);
  queue.EraseIf(
      "h", [](ConnectionQueue::Id id) { return id == 0 || id == 1000; }, kNow);
  queue.Release("h", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{1});
  queue.Clear(kNow);
  queue.Release("h", kA, kNow);
  EXPECT_EQ(PopAll(queue), Ids{});
  EXPECT_TRUE(queue.TryTake("h", kC, kNow)) << "nothing is left of it";
}

// Random requests against a model of the two limits: nothing is started beyond them, nothing waits
// that could go on, everything comes to its end.
TEST(ConnectionQueue, HoldsItsLimitsAndLeavesNobodyBehind) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    ConnectionQueue queue({7, 3, seed % 2 == 0 ? milliseconds(2) : milliseconds(0)});
    struct Request {
      std::string host;
      base::Uuid org;
    };
    std::vector<Request> requests(3000);
    std::vector<ConnectionQueue::Id> active;
    std::map<std::string, int> at;
    std::size_t ended = 0;
    std::size_t next = 0;
    const auto begin = [&](ConnectionQueue::Id id) {
      active.push_back(id);
      EXPECT_LE(++at[requests[id].host], 3);
      EXPECT_LE(active.size(), 7u);
    };
    TimePoint now = kNow;
    for (int step = 0; ended < requests.size() && step < 100000; ++step) {
      now += milliseconds(1);
      for (unsigned burst = random() % 4; burst > 0 && next < requests.size(); --burst, ++next) {
        Request& r = requests[next];
        r = {"h" + std::to_string(random() % 5), OrgOf(random() % 4000)};
        if (queue.TryTake(r.host, r.org, now)) {
          begin(next);
        } else {
          queue.Push(r.host, r.org, next, now);
        }
      }
      while (const auto id = queue.Pop(now)) begin(*id);
      for (unsigned n = random() % 4; n > 0 && !active.empty(); --n, ++ended) {
        std::swap(active[random() % active.size()], active.back());
        const Request& r = requests[active.back()];
        active.pop_back();
        --at[r.host];
        queue.Release(r.host, r.org, now);
      }
    }
    EXPECT_EQ(ended, requests.size()) << "seed " << seed;
  }
}

// Answers A's requests that are under way, and lets those go on that then may.
void AnswerAll(ConnectionQueue& queue, const std::string& host, HostLimit::Answer answer,
               int* under_way, TimePoint* now) {
  const TimePoint began = *now;
  *now += milliseconds(200);
  for (int left = std::exchange(*under_way, 0); left > 0; --left) {
    queue.Release(host, kA, *now, {answer, began, milliseconds(200)});
  }
  while (queue.Pop(*now)) ++*under_way;
}

TEST(ConnectionQueue, WhereLimitsFollowAHostGetsMoreOrLessByItsAnswersAndOthersAreNotTouched) {
  std::vector<std::pair<std::string, int>> told;
  ConnectionQueue queue({10'000, 1000, {}}, [&](const std::string& host, int limit) {
    told.emplace_back(host, limit);
  });
  TimePoint now = kNow;
  int under_way = 0;
  while (queue.TryTake("h", kA, now)) ++under_way;
  EXPECT_EQ(under_way, HostLimit::kFirst);
  for (unsigned i = 0; i < 5000; ++i) queue.Push("h", kA, i, now);
  AnswerAll(queue, "h", HostLimit::Answer::kServed, &under_way, &now);
  EXPECT_EQ(under_way, 2 * HostLimit::kFirst);
  AnswerAll(queue, "h", HostLimit::Answer::kRefused, &under_way, &now);
  EXPECT_EQ(under_way, HostLimit::kFirst);
  EXPECT_TRUE(queue.TryTake("other", kB, now));
  const std::vector<std::pair<std::string, int>> all{
      {"h", 64}, {"h", 128}, {"h", 64}, {"other", 64}};
  EXPECT_EQ(told, all);
}

TEST(ConnectionQueue, WhatWasLearntOfAHostIsKeptWhileItIsIdle) {
  ConnectionQueue queue({10'000, 1000, {}}, [](const std::string&, int) {});
  TimePoint now = kNow;
  int under_way = 0;
  while (queue.TryTake("h", kA, now)) ++under_way;
  queue.Push("h", kA, 1, now);
  AnswerAll(queue, "h", HostLimit::Answer::kServed, &under_way, &now);
  AnswerAll(queue, "h", HostLimit::Answer::kServed, &under_way, &now);
  ASSERT_EQ(under_way, 0);
  while (queue.TryTake("h", kA, now)) ++under_way;
  EXPECT_EQ(under_way, 2 * HostLimit::kFirst);
}

TEST(ConnectionQueue, G10_WhereTheLimitFollowsPlacesGoByTurnsTooHoweverFew) {
  ConnectionQueue queue({10'000, 1000, {}}, [](const std::string&, int) {});
  for (int i = 0; i < HostLimit::kFirst; ++i) ASSERT_TRUE(queue.TryTake("h", kA, kNow));
  for (unsigned i = 0; i < 500; ++i) queue.Push("h", kA, i, kNow);
  for (unsigned i = 0; i < 3; ++i) queue.Push("h", kB, 1000 + i, kNow);
  for (unsigned i = 0; i < 3; ++i) {
    queue.Release("h", kA, kNow);
    EXPECT_EQ(PopAll(queue), Ids{1000 + i});
  }
}

}  // namespace
}  // namespace vedette::net
