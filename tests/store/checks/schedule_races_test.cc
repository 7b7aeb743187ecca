#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <thread>

#include "store/monitors/control.h"
#include "store/monitors/monitors.h"
#include "tests/store/support/pipeline_support.h"

// Calls of owners and operators that wait for a lock while time goes on: a slot that was accounted
// for meanwhile is not due again, though their transactions began before it.
namespace vedette::test {
namespace {

class ScheduleRacesTest : public PipelineTest {
 public:
  // `call` begins and waits for `locked`. Then the slot one hour after the anchor comes, is
  // accounted for, and `call` goes on.
  void Race(const std::string& locked, const std::string& also, const std::function<void()>& call) {
    pqxx::connection connection(database.url());
    pqxx::work holder(connection);
    holder.exec(fmt::format("select from {} for update", locked));
    std::thread caller(call);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Sql("select count(*) from pg_locks where not granted") == "0" &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    holder.exec(
        "update monitor_sched set anchor_at = c - interval '1 hour', next_run_at = c + interval "
        "'1 hour' from clock_timestamp() c");
    if (!also.empty()) holder.exec(also);
    holder.commit();
    caller.join();
  }

  std::string NextAfterAnchor() {
    return Sql("select next_run_at - anchor_at from monitor_sched where live");
  }
};

TEST_F(ScheduleRacesTest, G7_ASlotThatWasCutWhileAFrequencyChangeWaitedIsNotDueAgain) {
  const auto monitor = NewMonitor({.frequency_s = "3600"});
  Race("monitor_sched", "", [&] {
    store::MonitorChange change;
    change.frequency_text = "30m";
    change.frequency = std::chrono::minutes(30);
    store::UpdateMonitor(session, clock, {}, monitor, change);
  });
  EXPECT_EQ(NextAfterAnchor(), "01:30:00");
}

TEST_F(ScheduleRacesTest, G7_ASlotThatWasClosedWhileAResumeWaitedIsNotDueAgain) {
  const auto monitor = NewMonitor({.frequency_s = "3600"});
  Race("monitor", "update monitor set status = 3; update monitor_sched set live = false",
       [&] { store::ResumeMonitor(session, clock, {}, monitor, std::nullopt); });
  EXPECT_EQ(NextAfterAnchor(), "02:00:00");
}

TEST_F(ScheduleRacesTest, G7_ASlotThatWasClosedWhileAnUnlockWaitedIsNotDueAgain) {
  NewMonitor({.frequency_s = "3600"});
  Race("organisation",
       "update organisation set locked = true; update monitor_sched set live = false",
       [&] { store::ChangeOrganisation(session, clock, org, {.locked = false}, std::nullopt); });
  EXPECT_EQ(NextAfterAnchor(), "02:00:00");
}

// Ticks are cut a little ahead of their slot: the next one may be accounted for before it comes.
TEST_F(ScheduleRacesTest, G7_ASlotThatWasCutAheadIsNotDueAgain) {
  const auto monitor = NewMonitor({.frequency_s = "3600"});
  const auto cut_ahead = [this](bool live) {
    Sql(
        fmt::format("update monitor_sched set anchor_at = s - interval '1 hour', next_run_at = s + "
                    "interval '1 hour', live = {} from (select clock_timestamp() + interval "
                    "'10 ms' as s) c returning 1",
                    live));
  };
  cut_ahead(false);
  Sql("update monitor set status = 3");
  store::ResumeMonitor(session, clock, {}, monitor, std::nullopt);
  EXPECT_EQ(NextAfterAnchor(), "02:00:00");

  store::ChangeOrganisation(session, clock, org, {.locked = true}, std::nullopt);
  cut_ahead(false);
  store::ChangeOrganisation(session, clock, org, {.locked = false}, std::nullopt);
  EXPECT_EQ(NextAfterAnchor(), "02:00:00");

  cut_ahead(true);
  store::MonitorChange change;
  change.frequency_text = "30m";
  change.frequency = std::chrono::minutes(30);
  store::UpdateMonitor(session, clock, {}, monitor, change);
  EXPECT_EQ(NextAfterAnchor(), "01:30:00");
}

TEST_F(ScheduleRacesTest, G7_ATickThatAChunkHoldsSinceATriggerWaitedIsJoined) {
  const auto monitor = NewMonitor({.frequency_s = "3600"});
  store::TriggerOutcome outcome;
  Race("monitor_sched",
       "insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
       "due_at, row_count, holder, started_at, due_us, slots, longest_s, check_ms, failing) "
       "select s.monitor_id, s.org_id, s.tier, now(), array[s.monitor_id], array[7], '{0}', '{1}', "
       "now(), 1, '00000000-0000-0000-0000-000000000000', now(), '{7}', '{1}', '{3600}', '{0}', "
       "'{0}' from monitor_sched s;"
       "update monitor_sched set last_tick_id = 7, last_run_at = now(), chunk_id = monitor_id",
       [&] { outcome = store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt); });
  EXPECT_TRUE(outcome.joined);
  EXPECT_EQ(outcome.tick_id, 7);
  EXPECT_EQ(Sql("select count(*) from chunk"), "1");
}

TEST_F(ScheduleRacesTest, G5_AMonitorThatWasPausedWhileAnUnlockWaitedStaysPaused) {
  NewMonitor({.frequency_s = "3600"});
  Sql("update organisation set locked = true");
  Sql("update monitor_sched set live = false");
  Race("monitor_sched", "update monitor set status = 3",
       [&] { store::ChangeOrganisation(session, clock, org, {.locked = false}, std::nullopt); });
  EXPECT_EQ(Sql("select live from monitor_sched"), "f");
}

}  // namespace
}  // namespace vedette::test
