#include "scheduler/job_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "base/event_loop.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "tests/store/support/jobs_support.h"

// The keeper of jobs as it runs in a process.
namespace vedette::test {
namespace {

class JobKeeperTest : public JobsTest {
 public:
  JobKeeperTest()
      : settings(config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", database.url()}})),
        signals(settings.database, clock, metrics, Silent()),
        pool(settings.database, {.name = "scheduler", .keyed_plans = true}, 1, clock, metrics,
             Silent()) {
    settings.jobs.keeper_ms = std::chrono::milliseconds(20);
    keeper = std::make_unique<scheduler::JobKeeper>(loop, pool, signals, clock, metrics, settings,
                                                    Silent());
    loop.Post([this] { keeper->Start(); });
    thread = std::thread([this] { loop.Run(); });
  }
  ~JobKeeperTest() override {
    std::promise<void> drained;
    loop.Post([&] { keeper->Drain([&] { drained.set_value(); }); });
    EXPECT_EQ(drained.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready)
        << "draining hangs";
    loop.Stop();
    thread.join();
  }

  static base::Logger Silent() {
    return base::Logger(base::LogLevel::kOff, base::LogFormat::kText);
  }

  config::Config settings;
  store::Signals signals;
  store::Pool pool;
  base::EventLoop loop;
  std::unique_ptr<scheduler::JobKeeper> keeper;
  std::thread thread;
};

TEST_F(JobKeeperTest, G7_AJobWhoseDeadlineHasComeEndsAsTimedOut) {
  const auto job = Start(Lookup(1, 1000));
  Sql("update job set deadline_at = now()");
  Eventually("select status || ' ' || status_reason from job", "6 deadline_exceeded");
  EXPECT_EQ(Job(job, "reserved_mc"), "0");
  ExpectJobMoneyAddsUp();
  Until("the end is counted", [this] {
    return Series(R"(vedette_jobs_total{kind="find_email",outcome="timed_out"})") == 1;
  });
  EXPECT_EQ(Series(R"(vedette_job_seconds_count{kind="find_email"})"), 1);
}

TEST_F(JobKeeperTest, RunsOfAnOrganisationWhoseRowsTakeAllTheirRoomEndAndSayWhy) {
  Start(Run(3, 1, 1));
  auto others = Run(3, 1, 1);
  others.org_id = NewOrganisation(0);
  Start(others);
  Sql(fmt::format("insert into run_data values ('{}', current_date, 0, {})", org.ToString(),
                  settings.workflows.run_data_bytes_per_org_max));
  Eventually("select status_reason from job where finished_at is not null",
             "run_data_limit_reached");
  EXPECT_EQ(Job(others.id, "status"), "0");
  EXPECT_EQ(Sql("select status || ' ' || org_id from job where finished_at is not null"),
            "3 " + org.ToString());
}

TEST_F(JobKeeperTest, TheRowsOfACancelledRunsSourceAreDroppedAndItsOtherRowsStay) {
  const auto kept = Start(Run(2, 1, 2));
  const auto job = Start(Run(3, 1, 3));
  for (const auto& chunk : Claim().chunks) {
    if (chunk.job_id == kept || chunk.part == 0) RecordOne(chunk.job_id, PartEnd(chunk, 2));
  }
  EXPECT_EQ(Job(kept, "status"), "2");
  EXPECT_EQ(Sql("select sum(bytes) > 0 from run_data"), "t");
  End(job, domain::JobStatus::kCancelled);
  Eventually(fmt::format("select string_agg(block || ' ' || part, ', ') from job_part where job_id "
                         "= '{}'",
                         job.ToString()),
             "1 0");
  Eventually("select count(*) from run_data_unread", "0");
  EXPECT_EQ(Sql("select count(*) from job_part where job_id = '" + kept.ToString() + "'"), "4");
  EXPECT_EQ(Sql("select sum(bytes) from run_data"),
            Sql("select sum(octet_length(rows::text) + 100) from job_part"))
      << "what was dropped is given back";
}

TEST_F(JobKeeperTest, PartsOfARunGrowWhereItsRowsTurnOutToBeQuick) {
  auto run = Run(400, 1, 4096);
  run.blocks[1].pace = std::chrono::seconds(5);
  const auto job = Start(run);
  auto record = PartEnd(Claim(1).chunks.at(0), 2);
  record.rows_timed = 200;
  record.rows_took = std::chrono::milliseconds(200 * 80);
  RecordOne(job, record);
  // 10 s over (200 x 80 ms + 8 x 5 s) / 208, in parts of two.
  Eventually("select part_rows from job", "36");
  EXPECT_EQ(Sql("select parts_total || ' ' || opened || ' ' || parts_done from job_block where "
                "block = 1"),
            "24 24 1");
}

TEST_F(JobKeeperTest, OldJobsAreLookedForSeldomOnceThereIsNone) {
  const auto calls = [this](const std::string& statement) {
    return Series("vedette_db_query_seconds_count{query=\"" + statement + "\"}");
  };
  Until("the keeper has run often", [&] { return calls("jobs_overdue") >= 20; });
  EXPECT_EQ(calls("jobs_retire"), 1);
}

TEST_F(JobKeeperTest, OldRowsOutsideOfTheTablesOfDaysGoAtOnceHoweverMany) {
  Sql("insert into job_part (job_id, block, part, rows, row_count) select "
      "job_part_bound(now() - interval '30 days'), 0, k, '[]', 0 from generate_series(1, 2500) k");
  Until("none is left", [&] { return Sql("select count(*) from job_part") == "0"; });
}

TEST_F(JobKeeperTest, ADayOfRowsIsDroppedSoonOnceItIsOld) {
  Until("the keeper has looked",
        [&] { return Series("vedette_db_query_seconds_count{query=\"job_part_days_old\"}") > 0; });
  Sql("select ensure_partition('job_part', '2026-01-05 00:00:00+00', 0)");
  Eventually("select to_regclass('job_part_20260105') is null", "t");
}

TEST_F(JobKeeperTest, AJobOnWhichNobodyWorksEndsAsStalled) {
  Start(Lookup());
  Sql("update job set created_at = now() - interval '1 hour'");
  Sql("update job_block set updated_at = now() - interval '1 hour'");
  Sql("delete from job_chunk");
  Eventually("select status || ' ' || status_reason from job", "3 stalled");
}

TEST_F(JobKeeperTest, ARunOnWhichNobodyWorksEndsAndIsCounted) {
  Start(Run(3, 1, 1));
  Until("its age is shown", [this] { return Series("vedette_run_oldest_queued_seconds") > 0; });
  Sql("update job set created_at = now() - interval '1 hour'");
  Sql("update job_block set updated_at = now() - interval '1 hour'");
  Until("its age has grown", [this] { return Series("vedette_run_oldest_queued_seconds") > 3000; });
  Sql("delete from job_chunk");
  Eventually("select status || ' ' || status_reason from job", "3 stalled");
  Until("it is counted", [this] { return Series("vedette_runs_stalled_total") == 1; });
  Until("no run waits any more",
        [this] { return Series("vedette_run_oldest_queued_seconds") == 0; });
}

TEST_F(JobKeeperTest, AMonitorThatTheEndOfItsRunLeftStartingFails) {
  const std::string run = Start(Run(3, 1, 1)).ToString();
  const std::string monitor = NewMonitor({}).ToString();
  Sql("update monitor set status = 0, run_id = '" + run + "'");
  Sql("update job_block set monitor_id = '" + monitor + "' where block = 1");
  Sql("update job set status = 4, finished_at = now()");
  Eventually("select status from monitor", "1");
  EXPECT_EQ(Sql("select disabled_reason from monitor"),
            "the run " + run + " ended as cancelled before all of its rows were here");
}

TEST_F(JobKeeperTest, WhatWaitsInALaneThatNobodyServesGoesToAnother) {
  auto job = Lookup();
  job.blocks[0].lane = domain::Lane::kSmtp;
  Start(job);
  Sql("update job_chunk set available_at = now() - interval '1 hour'");
  Eventually("select lane from job_chunk", "1");
}

TEST_F(JobKeeperTest, TheChunksOfEachLaneAreShown) {
  Start(Lookup());
  Until("the gauge shows it",
        [this] { return Series(R"(vedette_job_chunks{lane="lookup",state="due"})") == 1; });
  EXPECT_EQ(Series("vedette_job_overdue_seconds"), 0);
  Until("the gauge of jobs shows it",
        [this] { return Series(R"(vedette_jobs{kind="find_email",status="queued"})") == 1; });
  Sql("delete from job_chunk");
  Until("the gauge falls",
        [this] { return Series(R"(vedette_job_chunks{lane="lookup",state="due"})") == 0; });
}

}  // namespace
}  // namespace vedette::test
