#include "delivery/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/ids.h"

namespace vedette::delivery {
namespace {

using vedette::test::Id;
using End = domain::ReceiverState;
using std::chrono::milliseconds;

// The organisation of a receiver by its number: 1 to 999 are of one, 1000 to 1999 of the next.
base::Uuid Org(int receiver) {
  return Id(20000 + receiver / 1000);
}

// Receivers by number; remembers whose each delivery is and what is under way.
struct World {
  explicit World(const LaneLimits& limits) : lanes(limits) {}

  void Add(int receiver, int n = 1) {
    for (int i = 0; i < n; ++i) {
      owner[Id(++last)] = receiver;
      lanes.Add(Org(receiver), Id(receiver), Id(last), false);
    }
  }
  // Starts what may start; the receivers of it, in order.
  std::vector<int> Start() {
    std::vector<int> started;
    while (const auto id = lanes.Next()) {
      started.push_back(owner.at(*id));
      ++under_way[owner.at(*id)];
    }
    return started;
  }
  std::vector<base::Uuid> EndOne(int receiver, End end = End::kWorks, bool overdue = false,
                                 milliseconds took = milliseconds(1)) {
    --under_way[receiver];
    return lanes.Ended(Id(receiver), end, overdue, took);
  }
  bool Reserve(int receiver) { return lanes.Reserve(Org(receiver), Id(receiver)); }
  // Attempts under way to the receivers of the organisation that this one is of.
  int UnderWayOf(int receiver) const {
    int n = 0;
    for (const auto& [other, attempts] : under_way) n += Org(other) == Org(receiver) ? attempts : 0;
    return n;
  }
  void MakePrompt(int receiver) {
    Add(receiver);
    Start();
    EndOne(receiver);
    ASSERT_TRUE(lanes.IsPrompt(Id(receiver)));
  }
  // All its attempts hang.
  void Hang(int receiver) {
    for (int i = 0; i < under_way[receiver]; ++i) lanes.Overdue(Id(receiver));
  }

  Lanes lanes;
  int last = 1000;
  std::map<base::Uuid, int> owner;
  std::map<int, int> under_way;
};

constexpr LaneLimits kLimits{8, 8, 4, 5};

TEST(Lanes, ANewReceiverGetsTwoAndAfterItsFirstAnswerItsShare) {
  World w(kLimits);
  w.Add(1, 10);
  EXPECT_EQ(w.Start().size(), 2U);
  w.EndOne(1);
  EXPECT_EQ(w.Start().size(), 3U) << "four under way";
}

TEST(Lanes, ReceiversTakeTurns) {
  World w(kLimits);
  for (int r : {1, 2, 3}) w.MakePrompt(r);
  for (int r : {1, 2, 3}) w.Add(r, 4);
  EXPECT_EQ(w.Start(), (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2}));
  w.EndOne(1);
  EXPECT_EQ(w.Start(), std::vector<int>{3});
}

TEST(Lanes, G10_HoweverManyHangThePromptKeepTheirLane) {
  World w(kLimits);
  w.MakePrompt(1);
  for (int r = 2; r < 100; ++r) w.Add(r, 4);
  EXPECT_EQ(w.Start().size(), 8U) << "newcomers fill their own lane";
  for (int r = 2; r < 100; ++r) w.Hang(r);
  EXPECT_TRUE(w.Start().empty());
  w.Add(1, 4);
  EXPECT_EQ(w.Start(), (std::vector<int>{1, 1, 1, 1}));
}

constexpr LaneLimits kWide{100, 100, 4, 5};

TEST(Lanes, G10_ANewReceiverGoesAtOnceBesideHundredsOfAnotherOrganisationThatHang) {
  World w(kWide);
  int held = 0;
  for (int r = 1; r <= 900; ++r) {
    if (!w.Reserve(r)) continue;
    ++held;
    w.lanes.Cancel(Id(r));
    w.Add(r);
    w.Start();
    w.Hang(r);
  }
  EXPECT_EQ(held, 360) << "nine tenths of four times what is under way";
  EXPECT_EQ(w.UnderWayOf(1), 90);
  const Lanes::Room room = w.lanes.RoomForClaims();
  EXPECT_FALSE(room.slow_in_flight.MayTake(Org(1)));
  EXPECT_FALSE(room.slow.MayTake(Org(1)));
  EXPECT_TRUE(room.slow_in_flight.MayTake(Org(1000)));
  EXPECT_TRUE(room.slow.MayTake(Org(1000)));
  ASSERT_TRUE(w.Reserve(1000));
  w.lanes.Cancel(Id(1000));
  w.Add(1000);
  EXPECT_EQ(w.Start(), std::vector<int>{1000});
  w.EndOne(1000);
  EXPECT_TRUE(w.lanes.IsPrompt(Id(1000)));
}

TEST(Lanes, G10_OrganisationsTakeTurnsHoweverManyReceiversEachHas) {
  World w(kWide);
  for (int r = 1; r <= 4; ++r) w.MakePrompt(r);
  w.MakePrompt(1000);
  for (int r = 1; r <= 4; ++r) w.Add(r, 2);
  w.Add(1000, 3);
  EXPECT_EQ(w.Start(), (std::vector<int>{1, 1000, 2, 1000, 3, 1000, 4, 1, 2, 3, 4}));
}

// Attempts of both end all the time, and both have more receivers than places.
TEST(Lanes, G10_TwoOrganisationsWhoseReceiversHangHaveEqualShares) {
  World w({100, 100, 4, 1'000'000});
  const auto fill = [&w](int first) {
    for (int r = first; r < first + 100; ++r) w.Add(r, 50);
    for (const int started : w.Start()) w.lanes.Overdue(Id(started));
  };
  fill(1);
  EXPECT_EQ(w.UnderWayOf(1), 90);
  fill(1000);
  for (int round = 0; round < 200; ++round) {
    for (const int first : {1, 1000}) {
      for (int r = first; r < first + 100; ++r) {
        if (w.under_way[r] == 0) continue;
        w.EndOne(r, End::kFails, true);
        for (const int started : w.Start()) w.lanes.Overdue(Id(started));
        break;
      }
    }
  }
  EXPECT_NEAR(w.UnderWayOf(1), w.UnderWayOf(1000), 9) << "a place that is free makes nine";
  EXPECT_GE(w.UnderWayOf(1) + w.UnderWayOf(1000), 90) << "nothing is left idle but the reserve";
  w.Add(2000);
  EXPECT_EQ(w.Start(), std::vector<int>{2000}) << "and there is room for a third one's";
}

// The share of a receiver in its lane is that of its organisation's, not of all receivers.
TEST(Lanes, G10_ASlowReceiverDoesNotShareItsAttemptsWithAnothersHundreds) {
  World w(kWide);
  w.Add(1000);
  w.Start();
  w.Hang(1000);
  for (int r = 1; r <= 300; ++r) w.Add(r);
  w.Start();
  w.Add(1000, 5);
  EXPECT_EQ(w.Start(), (std::vector<int>{1000, 1000, 1000}));
}

TEST(Lanes, G10_APromptReceiverThatBeginsToHangGivesItsPlacesBack) {
  World w(kLimits);
  for (int r : {1, 2, 3}) w.MakePrompt(r);
  w.Add(1, 10);
  w.Add(2, 10);
  EXPECT_EQ(w.Start().size(), 8U);
  w.Add(3, 4);
  EXPECT_TRUE(w.Start().empty());
  w.Hang(1);
  EXPECT_FALSE(w.lanes.IsPrompt(Id(1)));
  EXPECT_EQ(w.Start(), (std::vector<int>{3, 3, 3, 3}));
}

TEST(Lanes, OneQuickAnswerAmongHangingOnesIsNotPrompt) {
  World w(kLimits);
  w.MakePrompt(1);
  w.Add(1, 4);
  w.Start();
  w.lanes.Overdue(Id(1));
  w.EndOne(1);
  EXPECT_FALSE(w.lanes.IsPrompt(Id(1)));
  w.EndOne(1, End::kFails, true);
  EXPECT_FALSE(w.lanes.IsPrompt(Id(1)));
  w.EndOne(1);
  EXPECT_TRUE(w.lanes.IsPrompt(Id(1)));
}

TEST(Lanes, SlowReceiversShareTheirLaneEqually) {
  World w({8, 8, 8, 1000});
  for (int r : {1, 2, 3, 4}) {
    w.Add(r, 20);
    w.Start();
    w.Hang(r);
  }
  for (int round = 0; round < 20; ++round) {
    for (int r : {1, 2, 3, 4}) {
      if (w.under_way[r] > 0) w.EndOne(r, End::kFails, true);
      for (const int started : w.Start()) w.lanes.Overdue(Id(started));
    }
    if (round < 5) continue;  // until the first one's share is down to a fourth
    for (int r : {1, 2, 3, 4}) EXPECT_LE(w.under_way[r], 2) << round;
  }
}

TEST(Lanes, WhatWaitsForAFailingReceiverIsGivenBackToItsBreaker) {
  World w(kLimits);
  w.Add(1, 12);
  std::vector<base::Uuid> given_back;
  for (int i = 0; i < kLimits.failures_max; ++i) {
    w.Start();
    EXPECT_TRUE(given_back.empty());
    given_back = w.EndOne(1, End::kFails);
  }
  EXPECT_EQ(given_back.size(), 12U - 5U - static_cast<std::size_t>(w.under_way[1]));
  EXPECT_FALSE(w.Reserve(1)) << "left to the claims";
  w.EndOne(1);
  EXPECT_TRUE(w.Reserve(1));
}

TEST(Lanes, AnAttemptThatWasNotMadeSaysNothing) {
  World w(kLimits);
  w.Add(1);
  w.Start();
  w.EndOne(1, End::kUnknown);
  EXPECT_FALSE(w.lanes.IsPrompt(Id(1)));
  for (int i = 0; i < 10; ++i) {
    w.Add(1);
    w.Start();
    w.EndOne(1, End::kUnknown);
  }
  EXPECT_TRUE(w.Reserve(1));
}

TEST(Lanes, G11_ALaneHoldsFourTimesWhatItSends) {
  World w(kLimits);
  const auto reserve = [&](int first, int last) {
    int reserved = 0;
    for (int r = first; r <= last; ++r) {
      while (w.Reserve(r)) ++reserved;
    }
    return reserved;
  };
  EXPECT_EQ(reserve(1, 99), 29) << "nine tenths, to one organisation alone";
  int others = 0;
  for (int org = 1; org < 10; ++org) others += reserve(org * 1000, org * 1000 + 99);
  EXPECT_EQ(others, 3);
  EXPECT_TRUE(w.lanes.RoomForClaims().slow.full());
  EXPECT_EQ(w.lanes.RoomForClaims().prompt.used(), 0U) << "the other lane is nobody's yet";
  w.lanes.Cancel(Id(1));
  EXPECT_EQ(w.lanes.RoomForClaims().slow.used(), 31U);
}

TEST(Lanes, ClaimsAreToldWhoIsPromptAndWhoHasEnough) {
  World w(kLimits);
  w.MakePrompt(3);
  w.MakePrompt(1);
  w.Add(2, 3);  // two go, one waits
  w.Add(1, 4 + 4);
  w.Start();
  const Lanes::Room room = w.lanes.RoomForClaims();
  EXPECT_EQ(*room.prompt_receivers, (domain::PromptReceivers{{Id(1), 128}, {Id(3), 128}}));
  EXPECT_EQ(room.full, (std::vector<base::Uuid>{Id(1), Id(2)}));
  w.EndOne(1);
  w.Start();
  EXPECT_EQ(w.lanes.RoomForClaims().full, std::vector<base::Uuid>{Id(2)});
}

TEST(Lanes, OfAReceiverAsMuchIsHeldAsItAnswersInHalfASecond) {
  World w(kLimits);
  const auto held_max = [&] { return w.lanes.RoomForClaims().prompt_receivers->at(0).second; };
  const auto answer = [&](milliseconds took, int times) {
    for (int i = 0; i < times; ++i) {
      w.Add(1);
      w.Start();
      w.EndOne(1, End::kWorks, false, took);
    }
  };
  answer(milliseconds(1), 1);
  EXPECT_EQ(held_max(), 4 * 32) << "at most";
  answer(milliseconds(40), 50);
  EXPECT_EQ(held_max(), 4 * 8);
  answer(milliseconds(900), 50);
  EXPECT_EQ(held_max(), 4 * 2) << "at least";
  answer(milliseconds(40), 50);
  EXPECT_EQ(held_max(), 4 * 4) << "a step up is taken later than the same one down";
  answer(milliseconds(1), 90);
  EXPECT_EQ(held_max(), 4 * 32);
}

TEST(Lanes, MuchIsHeldWhileMoreThanHalfOfWhatMayBeWaits) {
  World w(kWide);  // 400 may be held
  for (int r = 1; r <= 5; ++r) w.MakePrompt(r);
  for (int r = 1; r <= 4; ++r) w.Add(r, 50);
  EXPECT_FALSE(w.lanes.HoldsMuch());
  w.Add(5);
  EXPECT_TRUE(w.lanes.HoldsMuch());
  w.Add(6);
  EXPECT_FALSE(w.lanes.HoldsMuch()) << "a receiver that nobody knows yet is not kept waiting";
  w.Start();
  w.EndOne(6);
  EXPECT_TRUE(w.lanes.HoldsMuch());
  w.EndOne(5);
  EXPECT_FALSE(w.lanes.HoldsMuch());
}

TEST(Lanes, TheWaitingAreTakenAtOnceAndPlacesAreFree) {
  World w(kLimits);
  w.Add(1, 5);
  w.Add(2, 5);
  w.Start();
  EXPECT_EQ(w.lanes.TakeWaiting().size(), 6U);
  for (int r : {1, 1, 2, 2}) w.EndOne(r);
  EXPECT_TRUE(w.Start().empty());
  EXPECT_EQ(w.lanes.RoomForClaims().slow.used(), 0U);
  EXPECT_EQ(w.lanes.RoomForClaims().slow_in_flight.used(), 0U);
  EXPECT_EQ(w.lanes.RoomForClaims().prompt.used(), 0U);
}

TEST(Lanes, IdleReceiversAreForgottenOnTheSecondLook) {
  World w(kLimits);
  w.MakePrompt(1);
  w.lanes.ForgetIdle();
  EXPECT_TRUE(w.lanes.IsPrompt(Id(1)));
  w.lanes.ForgetIdle();
  EXPECT_FALSE(w.lanes.IsPrompt(Id(1)));
}

}  // namespace
}  // namespace vedette::delivery
