#include "domain/workflow/run_schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "domain/monitor/timetable.h"

namespace vedette::domain {
namespace {

using Action = SlotStep::Action;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

base::Timestamp At(const std::string& text) {
  return base::ParseTimestamp(text);
}

const base::Timestamp kNine = At("2026-11-25T09:00:00Z");

ScheduleMoment Due() {
  ScheduleMoment moment;
  moment.now = kNine + seconds(1);
  moment.next_at = kNine;
  return moment;
}

TEST(RunSchedule, BeforeItsSlotNothingIsToBeDone) {
  ScheduleMoment moment = Due();
  moment.now = kNine - seconds(1);
  EXPECT_EQ(NextStep(moment).action, Action::kNothing);
  moment.paused = true;
  EXPECT_EQ(NextStep(moment).action, Action::kNothing);
}

TEST(RunSchedule, ASlotStartsARunUnlessItIsPausedOrLate) {
  EXPECT_EQ(NextStep(Due()).action, Action::kStart);
  EXPECT_EQ(NextStep(Due()).slot, kNine);
  ScheduleMoment moment = Due();
  moment.now = kNine + kCatchUpDefault;
  EXPECT_EQ(NextStep(moment).action, Action::kStart);
  moment.now += seconds(1);
  EXPECT_EQ(NextStep(moment).action, Action::kSkip);
  EXPECT_EQ(NextStep(moment).reason, kSlotLate);
  moment = Due();
  moment.catch_up = seconds(0);
  moment.now = kNine + kSlotPunctual;
  EXPECT_EQ(NextStep(moment).action, Action::kStart) << "it was not missed";
  moment.now += seconds(1);
  EXPECT_EQ(NextStep(moment).reason, kSlotLate);
  moment = Due();
  moment.paused = true;
  EXPECT_EQ(NextStep(moment).action, Action::kSkip);
  EXPECT_EQ(NextStep(moment).reason, kSlotPaused);
}

TEST(RunSchedule, WhatHappensWhileARunGoesOnIsAsTheScheduleSays) {
  ScheduleMoment moment = Due();
  moment.run_open = true;
  EXPECT_EQ(NextStep(moment).action, Action::kSkip);
  EXPECT_EQ(NextStep(moment).reason, kSlotOverlap);
  moment.overlap = Overlap::kAllow;
  EXPECT_EQ(NextStep(moment).action, Action::kStart);
  moment.overlap = Overlap::kQueueOne;
  EXPECT_EQ(NextStep(moment).action, Action::kWait);
  moment.waiting = kNine - hours(1);
  EXPECT_EQ(NextStep(moment).action, Action::kSkip) << "one waits already";
  EXPECT_EQ(NextStep(moment).slot, kNine);
}

TEST(RunSchedule, WhatWaitsStartsBeforeTheNextSlotAndADayAtMost) {
  ScheduleMoment moment = Due();
  moment.overlap = Overlap::kQueueOne;
  moment.waiting = kNine - hours(1);
  EXPECT_EQ(NextStep(moment).action, Action::kStart);
  EXPECT_EQ(NextStep(moment).slot, kNine - hours(1));
  EXPECT_TRUE(NextStep(moment).was_waiting);
  moment.paused = true;
  EXPECT_EQ(NextStep(moment).reason, kSlotPaused);
  moment.paused = false;
  moment.waiting = kNine - hours(25);
  EXPECT_EQ(NextStep(moment).action, Action::kSkip);
  EXPECT_EQ(NextStep(moment).reason, kSlotLate);
}

TEST(RunSchedule, TheIdOfARunIsAFunctionOfScheduleAndSlotAndSortsByTime) {
  const base::Uuid schedule = base::Uuid::V4();
  const base::Uuid id = RunIdOf(schedule, kNine);
  EXPECT_EQ(id, RunIdOf(schedule, kNine));
  EXPECT_NE(id, RunIdOf(base::Uuid::V4(), kNine));
  EXPECT_LT(id, RunIdOf(schedule, kNine + hours(1)));
  EXPECT_EQ(id.bytes[6] >> 4, 7);
  EXPECT_EQ(id.bytes[8] >> 6, 2);
  // 2026-11-25T09:00:00Z in milliseconds.
  EXPECT_EQ(id.ToString().substr(0, 13), "01a211ee-ea80");
}

// Looks every minute from `from` on, and starts what is due.
std::vector<std::string> RunsOf(const std::string& cron, base::Timestamp from, hours length) {
  ScheduleOrder order;
  order.cron = {cron};
  order.time_zone = "Europe/Berlin";
  const base::Uuid id = base::Uuid::V4();
  const Timetable timetable(from, hours(24), StoredSchedule(order), id);
  ScheduleMoment moment;
  moment.next_at = timetable.FirstAfter(from);
  std::vector<std::string> started;
  std::set<base::Uuid> runs;
  for (moment.now = from; moment.now < from + length; moment.now += minutes(1)) {
    for (SlotStep step = NextStep(moment); step.action != Action::kNothing;
         step = NextStep(moment)) {
      EXPECT_EQ(step.action, Action::kStart);
      started.push_back(base::FormatTimestamp(step.slot).substr(5, 11));
      EXPECT_TRUE(runs.insert(RunIdOf(id, step.slot)).second) << "a slot has one run";
      moment.next_at = timetable.CollapseDue(step.slot, step.slot).next_run_at;
    }
  }
  return started;
}

TEST(RunSchedule, G7_OverBothChangesOfTheClocksEachSlotOfTheWallHasOneRun) {
  using Slots = std::vector<std::string>;
  // Half past two is left out in March, and comes twice in October.
  EXPECT_EQ(RunsOf("30 2 * * *", At("2026-03-28T00:00:00Z"), hours(72)),
            (Slots{"03-28T01:30", "03-29T01:00", "03-30T00:30"}));
  EXPECT_EQ(RunsOf("30 2 * * *", At("2026-10-24T00:00:00Z"), hours(72)),
            (Slots{"10-24T00:30", "10-25T00:30", "10-26T01:30"}));
  EXPECT_EQ(RunsOf("0 * * * *", At("2026-10-24T23:30:00Z"), hours(4)),
            (Slots{"10-25T00:00", "10-25T01:00", "10-25T02:00", "10-25T03:00"}));
}

TEST(RunSchedule, NamesAreReadAndWritten) {
  for (const Overlap overlap : {Overlap::kSkip, Overlap::kQueueOne, Overlap::kAllow}) {
    EXPECT_EQ(ParseOverlap(OverlapName(overlap)), overlap);
  }
  EXPECT_FALSE(ParseOverlap("none"));
  EXPECT_EQ(SlotStateName(SlotState::kWaiting), "waiting");
}

}  // namespace
}  // namespace vedette::domain
