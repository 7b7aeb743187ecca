#include "api/kit/workflows.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/json.h"

namespace vedette::rest {
namespace {

using base::Json;

store::WorkflowSchedule Hourly() {
  store::WorkflowSchedule schedule;
  schedule.name = "Each hour";
  schedule.times.frequency = "1h";
  schedule.times.period = std::chrono::hours(1);
  schedule.next_at = base::ParseTimestamp("2026-03-29T01:00:00Z");
  schedule.times.anchor_at = schedule.next_at;
  schedule.catch_up = std::chrono::seconds(60);
  schedule.webhook_payload_json = R"([{"n": 1}])";
  return schedule;
}

TEST(WorkflowSchedules, AFrequencyHasNoCronAndShowsItsNextFiveTimes) {
  const Json shown = ScheduleItem(Hourly());
  EXPECT_TRUE(shown.at("cron").is_null());
  EXPECT_EQ(shown.at("frequency"), "1h");
  EXPECT_EQ(shown.at("next_run_times").size(), 5U);
  EXPECT_EQ(shown.at("catch_up_s"), 60);
  EXPECT_TRUE(shown.at("paused_reason").is_null());
  EXPECT_FALSE(shown.contains("webhook_payload")) << "a list has no payloads";
}

TEST(WorkflowSchedules, OneByTheClockShowsItsExpressionAndItsZone) {
  store::WorkflowSchedule schedule = Hourly();
  domain::ScheduleOrder order;
  order.cron = {"0 9 * * *"};
  order.time_zone = "Europe/Berlin";
  order.distances.longest = order.distances.shortest = std::chrono::hours(24);
  schedule.times.schedule_json = domain::StoredSchedule(order);
  const Json shown = ScheduleItem(schedule);
  EXPECT_EQ(shown.at("cron"), "0 9 * * *");
  EXPECT_EQ(shown.at("time_zone"), "Europe/Berlin");
}

TEST(WorkflowSchedules, OneThatIsPausedSaysWhyAndHasNoNextTimes) {
  store::WorkflowSchedule schedule = Hourly();
  schedule.is_active = false;
  schedule.paused_reason = "workflow_deleted";
  schedule.paused_message = "The workflow was deleted.";
  const Json shown = ScheduleItem(schedule);
  EXPECT_EQ(shown.at("next_run_times"), Json::array());
  EXPECT_EQ(shown.at("paused_reason"), "workflow_deleted");
  EXPECT_EQ(shown.at("paused_message"), "The workflow was deleted.");
}

TEST(WorkflowSchedules, ItsHistorySaysWhatBecameOfEachSlot) {
  store::WorkflowSlot started;
  started.run_id = base::Uuid::V4();
  store::WorkflowSlot late;
  late.state = domain::SlotState::kSkipped;
  late.reason = "late";
  late.slots = 3;
  const Json shown = ScheduleJson(Hourly(), {started, late});
  EXPECT_EQ(shown.at("webhook_payload"), (Json::array({Json{{"n", 1}}})));
  const Json& history = shown.at("history");
  EXPECT_EQ(history.at(0).at("outcome"), "started");
  EXPECT_EQ(history.at(0).at("run_id"), started.run_id->ToString());
  EXPECT_TRUE(history.at(0).at("reason").is_null());
  EXPECT_EQ(history.at(1).at("outcome"), "skipped");
  EXPECT_EQ(history.at(1).at("reason"), "late");
  EXPECT_EQ(history.at(1).at("slots"), 3);
}

}  // namespace
}  // namespace vedette::rest
