#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <pqxx/pqxx>
#include <set>
#include <string>
#include <thread>

#include "domain/job/job.h"
#include "tests/store/support/jobs_support.h"

// Ends of jobs, whatever leads to them, and what is left afterwards.
namespace vedette::test {
namespace {

using domain::JobStatus;
using store::JobRecorded;
using store::Signal;

class JobsEnd : public JobsTest {
 public:
  store::NewJob WithCallback(store::NewJob job) const {
    job.webhook = store::Webhook{"https://hooks.example/x", {"https", "hooks.example", 443}};
    return job;
  }
  base::Uuid ReadId(const std::string& statement) { return *base::Uuid::Parse(Sql(statement)); }

  std::set<std::string> in_use;  // of the keeper's runs
};

TEST_F(JobsEnd, EveryEndReturnsTheReservationTakesTheChunksAndIsFinal) {
  for (const auto status :
       {JobStatus::kFailed, JobStatus::kCancelled, JobStatus::kTerminated, JobStatus::kTimedOut}) {
    const auto job = Start(Lookup(4, 5000));
    const auto chunk = Claim().chunks.at(0);
    const auto outcome = End(job, status, "first");
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->status, status);
    EXPECT_EQ(Job(job, "status"), std::to_string(static_cast<int>(status)));
    EXPECT_EQ(BalanceOf(org), 1'000'000);
    EXPECT_EQ(RecordOne(job, PartEnd(chunk, 4, 4, 5000)), JobRecorded::kDropped);
    const auto again = End(job, JobStatus::kFailed, "second");
    EXPECT_EQ(again->status, status);
    EXPECT_EQ(again->status_reason, "first");
    EXPECT_TRUE(again->raise.empty());
    EXPECT_EQ(Job(job, "status_reason"), "first");
    ExpectJobMoneyAddsUp();
  }
}

TEST_F(JobsEnd, AQueuedJobThatIsCancelledNeverStarts) {
  const auto job = Start(Lookup());
  End(job, JobStatus::kCancelled);
  EXPECT_TRUE(Claim().chunks.empty());
  EXPECT_EQ(Job(job, "started_at is null and finished_at >= created_at"), "t");
}

TEST_F(JobsEnd, RowsThatWereRecordedStayInAPartAndTheOthersAreNull) {
  const auto job = Start(Lookup(3, 5000));
  RecordOne(job, Progress(Claim().chunks.at(0),
                          R"({"rows": [["a"], null, null], "later": {"1": {}}})", 1, 5000));
  End(job, JobStatus::kTimedOut);
  EXPECT_EQ(Sql("select rows::text || ' ' || row_count from job_part"), R"([["a"], null, null] 3)");
  EXPECT_EQ(Sql("select rows_done || ' ' || rows_out || ' ' || parts_done from job_block"), "1 1 0")
      << "what is there of its output";
  EXPECT_EQ(Job(job, "charged_mc || ' ' || reserved_mc"), "5000 0");
  EXPECT_EQ(BalanceOf(org), 995'000);
  const auto lookup = store::GetLookup(session, {org, {}}, job);
  ASSERT_TRUE(lookup.has_value());
  EXPECT_EQ(lookup->rows_json, R"([["a"], null, null])");
  EXPECT_EQ(lookup->job.status, JobStatus::kTimedOut);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsEnd, ACancelThatRacesTheLastRecordWinsOrLosesWhole) {
  int completed = 0;
  for (int i = 0; i < 40; ++i) {
    const auto job = Start(WithCallback(Lookup(1, 5000)));
    const auto chunk = Claim().chunks.at(0);
    const auto other = OtherSession();
    std::optional<store::JobEndOutcome> cancelled;
    std::thread cancel([&] {
      cancelled = store::EndJob(*other, clock, {org, {}}, job,
                                {JobStatus::kCancelled, "cancelled_by_client", {}});
    });
    const auto result = RecordJob(job, {PartEnd(chunk, 1, 1, 5000)});
    cancel.join();
    const bool won = EndIn(result) == JobStatus::kCompleted;
    completed += won ? 1 : 0;
    EXPECT_EQ(cancelled->status, won ? JobStatus::kCompleted : JobStatus::kCancelled);
    EXPECT_EQ(cancelled->raise.empty(), won);
    EXPECT_EQ(Job(job, "status || ' ' || charged_mc"), won ? "2 5000" : "4 0");
    EXPECT_EQ(Sql(fmt::format("select count(*) || ' ' || min(job_status) from delivery where "
                              "job_id = '{}'",
                              job.ToString())),
              won ? "1 2" : "1 4");
  }
  ExpectJobMoneyAddsUp();
  EXPECT_EQ(BalanceOf(org), 1'000'000 - 5000 * completed);
}

TEST_F(JobsEnd, ACallbackIsInsertedOnceWithAnIdThatTheJobFixes) {
  auto asked = WithCallback(Lookup());
  asked.waited = true;
  const auto job = Start(asked);
  const auto outcome = End(job, JobStatus::kFailed);
  EXPECT_EQ(outcome->raise, (std::vector{Signal::kDelivery, Signal::kJob}));
  End(job, JobStatus::kCancelled);
  EXPECT_EQ(Sql("select count(*) from delivery"), "1");
  EXPECT_EQ(Sql("select event_group_id || ' ' || type || ' ' || job_status || ' ' || "
                "(monitor_id is null) from delivery"),
            domain::JobEventId(job, domain::JobKind::kFindEmail).ToString() + " 4 3 true");
}

TEST_F(JobsEnd, AnInvestigationHasNoCallback) {
  auto asked = WithCallback(Lookup());
  asked.kind = domain::JobKind::kInvestigation;
  asked.investigation = store::NewInvestigation{"[]", 1, 1, 100, {}, {}};
  EXPECT_TRUE(End(Start(asked), JobStatus::kCancelled)->raise.empty());
  EXPECT_EQ(Sql("select count(*) from delivery"), "0");
}

TEST_F(JobsEnd, G8_AForeignJobIsNotThere) {
  const auto job = Start(Lookup());
  const auto stranger = NewOrganisation(0);
  const store::JobEnding ending{JobStatus::kCancelled, "cancelled_by_client", {}};
  EXPECT_FALSE(store::EndJob(session, clock, {stranger, {}}, job, ending).has_value());
  EXPECT_FALSE(store::EndJob(session, clock, {org, base::Uuid::V4()}, job, ending).has_value());
  EXPECT_FALSE(store::GetJob(session, {stranger, {}}, job).has_value());
  EXPECT_FALSE(store::GetLookup(session, {stranger, {}}, job).has_value());
  EXPECT_EQ(Job(job, "status"), "0");
}

TEST_F(JobsEnd, TheKeeperEndsWhatIsOverdueOnce) {
  auto asked = Lookup(1, 5000);
  asked.deadline = std::chrono::milliseconds(1);
  const auto late = Start(asked);
  const auto open = Start(Lookup());
  const auto run = store::EndOverdueJobs(session, clock);
  EXPECT_EQ(run.ended, 1);
  EXPECT_TRUE(run.failures.empty());
  EXPECT_EQ(Job(late, "status || ' ' || status_reason"), "6 deadline_exceeded");
  EXPECT_EQ(Job(open, "status"), "0");
  EXPECT_EQ(store::EndOverdueJobs(session, clock).ended, 0);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsEnd, TheKeeperEndsAJobOnWhichNobodyWorksAnyMore) {
  const auto stalled = Start(Lookup(1, 5000));
  const auto young = Start(Lookup());
  const auto worked_on = Start(Lookup());
  Sql(
      fmt::format("delete from job_chunk where job_id <> '{}'; update job_block set updated_at = "
                  "now() - interval '2 minutes'; update job set created_at = now() - interval '2 "
                  "minutes' where id <> '{}'",
                  worked_on.ToString(), young.ToString()));
  store::StalledCursor cursor;
  const auto run = store::EndStalledJobs(session, clock, &cursor);
  EXPECT_EQ(run.ended, 1);
  EXPECT_EQ(Job(stalled, "status || ' ' || status_reason"), "3 stalled");
  EXPECT_EQ(Job(young, "status"), "0");
  EXPECT_EQ(Job(worked_on, "status"), "0");
  EXPECT_FALSE(cursor.deadline_at.has_value()) << "the next search begins from the start";
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsEnd, JobsAreKeptForTheirRetentionAndWhileADeliveryIsLeft) {
  const store::JobRetention retention{std::chrono::hours(24), std::chrono::hours(48)};
  const auto old = Start(Lookup());
  const auto with_callback = Start(WithCallback(Lookup()));
  const auto run = Start(Run(1, 1, 1));
  const auto recent = Start(Lookup());
  const auto open = Start(Lookup());
  for (const auto& job : {old, with_callback, run, recent}) End(job, JobStatus::kCancelled);
  Sql(
      fmt::format("update job set created_at = now() - interval '3 days', finished_at = now() - "
                  "interval '25 hours' where id not in ('{}', '{}')",
                  recent.ToString(), open.ToString()));
  EXPECT_EQ(store::RetireJobs(session, retention), 1);
  EXPECT_EQ(Job(old, "id"), "");
  EXPECT_EQ(Sql("select count(*) from job"), "4");
  Sql("delete from delivery");
  EXPECT_EQ(store::RetireJobs(session, retention), 1);
  EXPECT_EQ(Sql("select count(*) from job_block b where not exists (select from job j where j.id = "
                "b.job_id)"),
            "0");
}

TEST_F(JobsEnd, ADayOfRowsIsDroppedWhenItIsOldAndNoneOfItsJobsIsOpen) {
  constexpr std::chrono::hours kKept{24};
  // A job of a day long ago, whose partition was made then.
  Sql("select ensure_partition('job_part', '2026-01-05 00:00:00+00', 0)");
  const auto ancient = ReadId("select job_part_bound('2026-01-05 12:00:00+00')");
  auto asked = Lookup();
  asked.id = ancient;
  Start(asked);
  RecordOne(ancient, Progress(Claim().chunks.at(0), R"({"rows": [["a"]]})"));
  Sql(fmt::format("insert into job_part values ('{}', 1, 0, '[]', 0)", ancient.ToString()));
  store::DropOldRows(session, kKept, &in_use);
  EXPECT_EQ(Sql("select count(*) from job_part_20260105"), "1") << "its job is open";
  End(ancient, JobStatus::kCancelled);
  Sql("insert into run_data select org_id, d, 0, 1 from job, unnest(array['2026-01-05', "
      "current_date]::date[]) d");
  {
    pqxx::connection neighbour(database.url());
    pqxx::work backup(neighbour);
    backup.exec("lock table job_part in access share mode");
    const auto began = clock.SinceBoot();
    store::DropOldRows(session, kKept, &in_use);
    EXPECT_LT(clock.SinceBoot() - began, std::chrono::seconds(2)) << "nobody waits for a backup";
    EXPECT_EQ(Sql("select to_regclass('job_part_20260105') is null"), "f");
    EXPECT_EQ(Sql("select count(*) from run_data"), "2") << "what is there takes room";
  }
  store::DropOldRows(session, kKept, &in_use);
  EXPECT_EQ(Sql("select string_agg((day = current_date)::text, ' ') from run_data"), "true")
      << "what is gone takes no room";
  EXPECT_EQ(Sql("select to_regclass('job_part_20260105') is null"), "t");
  const auto lookup = store::GetLookup(session, {}, ancient);
  EXPECT_FALSE(lookup->rows_json.has_value());
}

}  // namespace
}  // namespace vedette::test
