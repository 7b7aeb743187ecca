// Whose checks a worker starts, among organisations and inside one.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/role_config.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

using std::chrono::milliseconds;

// Two neighbours whose checks never end leave room, each what MayTakeMore says, and a third one's
// check begins.
TEST_F(WorkerTest, G10_TwoOrganisationsWithSlowChecksLeaveSlotsToAThird) {
  settings.worker.checks_in_flight_max = 400;
  probe.SetMonitorScript([this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    ++held_of[monitor];
    return std::nullopt;
  });
  const auto begun = [this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    return held_of[monitor];
  };
  Process process(*this);
  std::vector<base::Uuid> monitors;
  for (const int share : {360, 36, 1}) {
    monitors.push_back(
        NewMonitor({.rows = share == 1 ? 1 : 600, .org = NewOrganisation(1'000'000)}));
    Sql("update monitor_row set subject = json_build_object('n', position) returning 1");
    Cut();
    Until("it has its share", [&] { return begun(monitors.back()) == share; });
  }
  process.Settle();
  EXPECT_EQ(begun(monitors[0]), 360);
  EXPECT_EQ(begun(monitors[1]), 36) << "nine tenths of what the first one left";
}

// The neighbour's check takes the last slot, and the scan over the organisations stands behind it.
// What is due next is claimed when there is room again: nobody waits for a poll.
TEST_F(WorkerTest, G10_WhatBecomesDueBehindTheWalkIsClaimedWithoutAPoll) {
  settings.worker.checks_in_flight_max = 128;
  settings.worker.poll_ms = std::chrono::hours(1);
  std::vector<base::Uuid> organisations;
  for (int n = 0; n < 3; ++n) organisations.push_back(NewOrganisation(1'000'000));
  std::sort(organisations.begin(), organisations.end());
  probe.SetMonitorScript([this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    ++held_of[monitor];
    return std::nullopt;
  });
  const auto begun = [this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    return held_of[monitor];
  };
  Process process(*this);
  for (const int share : {116, 11}) {
    const base::Uuid attacker =
        NewMonitor({.rows = 600, .org = organisations[share == 116 ? 0 : 1]});
    Sql("update monitor_row set subject = json_build_object('n', position) returning 1");
    Cut();
    process.Wake();
    Until("it has its share", [&] { return begun(attacker) == share; });
  }
  const base::Uuid neighbour = NewMonitor({.rows = 1, .org = organisations[2]});
  for (int n = 1; n <= 5; ++n) {
    Cut();
    process.Wake();
    Until("the neighbour's check begins", [&] { return begun(neighbour) == n; });
    process.Settle();  // behind the claim the claimer has looked for room, and found none
    probe.ReleaseLast(process.loop, Price("1"));
    Eventually(
        fmt::format("select count(*) from chunk where org_id = '{}'", organisations[2].ToString()),
        "0");
    Sql(
        fmt::format("update monitor_sched set next_run_at = now() where monitor_id = '{}' "
                    "returning 1",
                    neighbour.ToString()));
  }
}

// A large tick whose checks never end holds its organisation's share of slots and rows; a one-row
// monitor of the same organisation begins all the same.
TEST_F(WorkerTest, G10_AOneRowCheckBeginsBesideALargeTickOfItsOrganisation) {
  settings.worker.checks_in_flight_max = 40;
  settings.worker.chunk_rows_max = limits.chunk_rows_max = 16;
  const auto large = NewPriced(2000);
  Cut();
  probe.SetMonitorScript([this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    ++held_of[monitor];
    return std::nullopt;
  });
  const auto begun = [this](const base::Uuid& monitor) {
    const std::lock_guard lock(held_mutex);
    return held_of[monitor];
  };
  Process process(*this);
  Until("its share is in flight", [&] { return begun(large) == 36; });
  process.Settle();
  const auto one = NewPriced(1);
  Cut();
  Until("the one-row check begins", [&] { return begun(one) == 1; });
  EXPECT_EQ(begun(large), 36);
}

TEST_F(WorkerTest, G10_AMonitorsChunksFollowFromItsOwnChecksDurations) {
  const auto slow = NewPriced(2);
  Cut();
  probe.SetScript([](int, int) { return std::nullopt; });
  Process process(*this);
  Until("they are held", [this] { return probe.held() == 2; });
  const auto began = clock.SinceBoot();
  Until("some time has passed", [&] { return clock.SinceBoot() - began > milliseconds(50); });
  probe.Release(process.loop, Price("1"));
  UntilAllChunksAreDone();
  EXPECT_EQ(Sql(fmt::format("select check_ms >= 50 from monitor_sched where monitor_id = '{}'",
                            slow.ToString())),
            "t");
}

}  // namespace
}  // namespace vedette::test
