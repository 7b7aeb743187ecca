#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "domain/monitor/timetable.h"

namespace vedette::domain {
namespace {

using base::ParseTimestamp;
using base::Timestamp;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

const Timestamp kDue = ParseTimestamp("2026-11-21T09:30:00.000042Z");

TEST(CollapseDueSlots, G7OnTimeStandsForOneSlot) {
  for (const auto late :
       {microseconds(0), microseconds(1), microseconds(hours(1)) - microseconds(1)}) {
    const DueSlots due = CollapseDueSlots(kDue, hours(1), kDue + late);
    EXPECT_EQ(due.due_at, kDue);
    EXPECT_EQ(due.slots, 1);
    EXPECT_EQ(due.next_run_at, kDue + hours(1));
  }
}

TEST(CollapseDueSlots, G7EveryMissedSlotIsCounted) {
  const DueSlots exactly = CollapseDueSlots(kDue, hours(1), kDue + hours(3));
  EXPECT_EQ(exactly.due_at, kDue);
  EXPECT_EQ(exactly.slots, 4);
  EXPECT_EQ(exactly.next_run_at, kDue + hours(4));
  const DueSlots before = CollapseDueSlots(kDue, hours(1), kDue + hours(3) - microseconds(1));
  EXPECT_EQ(before.slots, 3);
  EXPECT_EQ(before.next_run_at, kDue + hours(3));
}

TEST(CollapseDueSlots, G7SlotsOfSuccessiveTicksAddUpWhateverRunsLate) {
  Timestamp next = kDue;
  std::int64_t slots = 0;
  Timestamp now = kDue;
  for (const auto step : {seconds(1), seconds(3599), seconds(3600), seconds(86'401), seconds(59)}) {
    now += step;
    if (now < next) continue;
    const DueSlots due = CollapseDueSlots(next, hours(1), now);
    slots += due.slots;
    EXPECT_GT(due.next_run_at, now);
    EXPECT_LE(due.next_run_at, now + hours(1));
    next = due.next_run_at;
  }
  EXPECT_EQ(next, kDue + hours(slots)) << "no drift from the anchor";
}

TEST(FirstSlotAfter, IsOnTheAnchorsGridAndStrictlyLater) {
  EXPECT_EQ(FirstSlotAfter(kDue, hours(1), kDue), kDue + hours(1));
  EXPECT_EQ(FirstSlotAfter(kDue, hours(1), kDue + microseconds(1)), kDue + hours(1));
  EXPECT_EQ(FirstSlotAfter(kDue, hours(1), kDue + hours(1)), kDue + hours(2));
  EXPECT_EQ(FirstSlotAfter(kDue, days(30), kDue + days(365)), kDue + days(390));
}

TEST(FirstSlotAfter, NoSlotStandsBeforeTheAnchor) {
  EXPECT_EQ(FirstSlotAfter(kDue, hours(1), kDue - microseconds(1)), kDue);
  EXPECT_EQ(FirstSlotAfter(kDue, hours(1), kDue - days(3)), kDue);
}

TEST(NextRunTimes, FollowOneAnotherByTheFrequency) {
  const Timetable timetable(kDue, hours(2), std::nullopt, {});
  EXPECT_EQ(timetable.NextTimes(kDue, 3), (std::vector{kDue, kDue + hours(2), kDue + hours(4)}));
  EXPECT_TRUE(timetable.NextTimes(kDue, 0).empty());
}

}  // namespace
}  // namespace vedette::domain
