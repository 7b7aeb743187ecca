#include "domain/monitor/timetable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace vedette::domain {
namespace {

using base::ParseTimestamp;
using base::Timestamp;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

base::Uuid Id(int n) {
  base::Uuid id;
  for (std::size_t i = 0; i < 4; ++i) {
    id.bytes[12 + i] = static_cast<std::uint8_t>(static_cast<unsigned>(n) >> (8 * i));
  }
  return id;
}

std::string Stored(const std::vector<std::string>& cron, const std::string& zone,
                   int spread_s = 0) {
  ScheduleOrder order{.cron = cron, .is_list = true, .time_zone = zone};
  order.spread = seconds(spread_s);
  return StoredSchedule(order);
}

TEST(Timetable, TheStoredScheduleIsReadAsItWasGiven) {
  ScheduleOrder order{.cron = {"0 9 * * 1-5"}, .time_zone = "Europe/Berlin"};
  order.spread = seconds(600);
  order.distances.longest = days(3);
  EXPECT_EQ(ScheduleJson(order),
            R"({"cron":"0 9 * * 1-5","time_zone":"Europe/Berlin","spread_s":600})");
  const ScheduleOrder read = ParseStoredSchedule(StoredSchedule(order));
  EXPECT_EQ(ScheduleJson(read), ScheduleJson(order));
  EXPECT_EQ(read.distances.longest, days(3));
  order.is_list = true;
  EXPECT_EQ(ScheduleJson(ParseStoredSchedule(StoredSchedule(order))), ScheduleJson(order));
}

TEST(Timetable, SpreadMovesEverySlotOfAMonitorByTheSameAndMonitorsEvenly) {
  const Timestamp now = ParseTimestamp("2026-11-25T00:00:00Z");
  std::set<seconds> seen;
  for (int n = 0; n < 2'000; ++n) {
    const Timetable timetable(now, hours(1), Stored({"0 9 * * *"}, "UTC", 60), Id(n));
    const auto first = timetable.FirstAfter(now);
    const auto later = first - (now + hours(9));
    ASSERT_GE(later, seconds(0));
    ASSERT_LE(later, seconds(60));
    ASSERT_EQ(timetable.FirstAfter(first), first + days(1));
    ASSERT_EQ(timetable.FirstAfter(first - microseconds(1)), first);
    seen.insert(std::chrono::floor<seconds>(later));
  }
  EXPECT_EQ(seen.size(), 61U);
}

TEST(Timetable, AnchorsOfMonitorsMadeTogetherAreSpreadOverATwentiethOfTheirFrequency) {
  std::vector<int> by_second(180);
  for (int n = 0; n < 10'000; ++n) {
    const microseconds lead = AnchorLead(Id(n), hours(1), 0.1);
    ASSERT_LE(lead, minutes(3));
    ++by_second.at(static_cast<std::size_t>(std::min<std::int64_t>(lead / seconds(1), 179)));
    EXPECT_EQ(AnchorLead(Id(n), hours(1), 0), seconds(0));
    EXPECT_LE(AnchorLead(Id(n), days(30), 0.1), minutes(10));
  }
  EXPECT_LT(*std::max_element(by_second.begin(), by_second.end()), 120);
  EXPECT_GT(*std::min_element(by_second.begin(), by_second.end()), 20);
}

TEST(Timetable, G7AnEarlierAnchorLosesNoSlotBehindTheFirst) {
  const Timestamp created = ParseTimestamp("2026-11-25T12:00:00Z");
  const Timetable timetable(created - minutes(2), hours(1), std::nullopt, Id(1));
  EXPECT_EQ(timetable.NextTimes(created, 3),
            (std::vector<Timestamp>{created, created + minutes(58), created + minutes(118)}));
  const auto late = timetable.CollapseDue(created, created + minutes(59));
  EXPECT_EQ(late.slots, 2);
  EXPECT_EQ(late.next_run_at, created + minutes(118));
}

TEST(Timetable, G7WhatWasDueBeforeAChangeIsFollowedByWhatComesAfterIt) {
  const Timestamp changed = ParseTimestamp("2026-11-25T12:00:00Z");
  const Timestamp due = changed - minutes(50);
  for (const auto& cron :
       {std::optional<std::string>(), std::optional(Stored({"0 * * * *"}, "UTC"))}) {
    const Timetable timetable = Timetable::Since(changed, hours(1), cron, Id(1));
    EXPECT_EQ(timetable.NextTimes(due, 3),
              (std::vector<Timestamp>{due, changed + hours(1), changed + hours(2)}));
    for (const minutes late : {minutes(0), minutes(49), minutes(50), minutes(109)}) {
      EXPECT_EQ(timetable.CollapseDue(due, due + late).slots, 1) << late.count();
      EXPECT_EQ(timetable.CollapseDue(due, due + late).next_run_at, changed + hours(1));
    }
    EXPECT_EQ(timetable.CollapseDue(due, changed + minutes(90)).slots, 2);
    EXPECT_EQ(timetable.CollapseDue(due, changed + minutes(90)).next_run_at, changed + hours(2));
  }
}

TEST(Timetable, AZoneThatIsGoneGoesOnByTheShortestDistance) {
  const Timestamp now = ParseTimestamp("2026-11-25T12:00:00Z");
  const Timetable timetable(now, days(1), Stored({"0 9 * * *"}, "Atlantis/Capital"), Id(1));
  EXPECT_EQ(timetable.FirstAfter(now + hours(30)), now + days(2));
  EXPECT_EQ(timetable.CollapseDue(now, now + days(3)).slots, 4);
}

// The lives of monitors that go from schedule to schedule, by the clock and not, with schedulers
// that come late, stops and changes of the clocks: against the slots counted one by one.
class Life {
 public:
  explicit Life(std::uint64_t seed)
      : random_(seed),
        anchor_(ParseTimestamp("2026-03-27T00:00:00Z") + minutes(Number(0, 4 * 1440))),
        now_(anchor_) {
    Begin();
  }

  void Live(int steps) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t what = Number(0, 99);
      if (what < 80) {
        Look();
      } else if (what < 90) {
        Change();
      } else {
        Stop();
      }
    }
  }

 private:
  std::int64_t Number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  Timetable Any() {
    switch (Number(0, 6)) {
      case 0:
        return {anchor_, hours(1), std::nullopt, Id(1)};
      case 1:
        return {anchor_, days(1), std::nullopt, Id(1)};
      case 2:
        return {anchor_, hours(1), Stored({"30 * * * *"}, "Europe/Berlin"), Id(2)};
      case 3:
        return {anchor_, hours(1), Stored({"30 1,2,3 * * *"}, "Europe/Berlin", 900), Id(3)};
      case 4:
        return {anchor_, days(1), Stored({"0 0 * * *", "0 12 * * 1-5"}, "Asia/Beirut"), Id(4)};
      case 5:
        return {anchor_, hours(2), Stored({"45 */2 * * *"}, "Australia/Lord_Howe", 60), Id(5)};
      default:
        return {anchor_, days(7), Stored({"@weekly"}, "America/New_York"), Id(6)};
    }
  }

  // A timetable that goes on from now, after a change, a stop or at first.
  void Begin() {
    timetable_.emplace(Any());
    next_ = timetable_->FirstAfter(now_);
  }

  void Look() {
    now_ =
        std::max(now_, next_) + seconds(Number(0, 9) == 0 ? Number(0, 40 * 86'400) : Number(0, 90));
    if (next_ > now_) return;
    const DueSlots due = timetable_->CollapseDue(next_, now_);
    ASSERT_EQ(due.due_at, next_);
    std::int64_t slots = 1;
    Timestamp slot = timetable_->FirstAfter(next_);
    for (; slot <= now_; slot = timetable_->FirstAfter(slot)) ++slots;
    ASSERT_EQ(due.slots, slots) << "each slot that was due is accounted for once";
    ASSERT_EQ(due.next_run_at, slot);
    ASSERT_GT(due.next_run_at, now_);
    next_ = due.next_run_at;
  }

  // What is due stays due; else the new timetable's first slot is next.
  void Change() {
    now_ += seconds(Number(0, 100'000));
    timetable_.emplace(Any());
    if (next_ > now_) next_ = timetable_->FirstAfter(now_);
  }

  void Stop() {
    Look();
    now_ += days(Number(0, 20));
    next_ = timetable_->FirstAfter(now_);
    ASSERT_GT(next_, now_);
  }

  std::mt19937_64 random_;
  Timestamp anchor_;
  Timestamp now_;
  std::optional<Timetable> timetable_;
  Timestamp next_;
};

TEST(Timetable, G7EverySlotIsAccountedForOnceOverChangesStopsAndClocks) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    Life(seed).Live(60);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace vedette::domain
