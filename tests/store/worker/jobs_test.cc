#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <variant>

#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/lookup_config.h"
#include "config/role_config.h"
#include "tests/store/support/job_pipeline_support.h"

// The pipeline of jobs on a database: rows are done once and recorded, whichever process works on
// them.
namespace vedette::test {
namespace {

using domain::JobStatus;
using worker::RowFailure;
using worker::RowLater;
using worker::RowRequest;
using worker::RowResult;

using JobPipeline = JobPipelineTest;

worker::RowDone Charged(const RowRequest& request, std::int64_t charge_mc) {
  return {request.cells, charge_mc, std::nullopt};
}

TEST_F(JobPipeline, G3_AJobOfThreeRowsIsClaimedDoneRecordedAndEnds) {
  const auto job = Numbers(3, 3, 1000);
  block.SetScript([](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.cells.at(0) == "1") return Ended({R"("one")"});
    return Charged(request, 1000);
  });
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id), R"([[0],["one"],[2]])");
  EXPECT_EQ(Job(job.id, "charged_mc"), "2000");
  EXPECT_EQ(Sql("select rows_done || ' ' || rows_charged || ' ' || row_errors from job_block"),
            "3 2 0");
  EXPECT_EQ(Series(R"(vedette_jobs_total{kind="find_email_bulk",outcome="completed"})"), 1);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobPipeline, ANullBlockEndsEachRowAfterItsDelayAndChargesIt) {
  auto job = Numbers(5, 2, 500);
  job.blocks[0].type = "null";
  job.blocks[0].specs_json = R"({"delay_ms": 5, "charge": true})";
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id, 1), "[[2],[3]]");
  EXPECT_EQ(PartRows(job.id, 2), "[[4]]");
  EXPECT_EQ(Job(job.id, "charged_mc"), "2500");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobPipeline, G1_AWorkerThatDiesLeavesWhatItRecordedAndAnotherDoesTheRest) {
  const auto job = Numbers(3);
  block.SetScript([](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.cells.at(0) == "1") return std::nullopt;
    return Ended(request.cells);
  });
  Start(job);
  {
    Process dead(*this);
    Eventually("select progress from job_chunk", "1");
    Eventually("select rows_done from job_block", "2");
    dead.Kill();
  }
  EXPECT_EQ(block.starts(), 3U);
  EndLeases();
  block.SetScript(nullptr);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id), "[[0],[1],[2]]");
  EXPECT_EQ(block.starts(), 4U) << "only the row that had not ended starts again";
}

TEST_F(JobPipeline, G1_ARowsRunnerHearsOfItsRecordAndOfNoneThatWasNotMade) {
  settings.jobs.record_partial_delay_ms = std::chrono::minutes(1);
  std::atomic<int> told = 0;
  block.SetScript([&told](const RowRequest& request, int attempt) -> std::optional<RowResult> {
    if (request.cells.at(0) == "2" && attempt == 1) return std::nullopt;
    auto done = std::get<worker::RowDone>(Ended(request.cells));
    done.recorded = [&told] { ++told; };
    return done;
  });
  const auto job = Numbers(3);
  Start(job);
  {
    Process dead(*this);
    Until("the last row is in flight", [this] { return block.held() == 1; });
    dead.Kill();
  }
  EXPECT_EQ(told.load(), 0) << "two rows have ended, and nothing is recorded of them";
  EndLeases();
  {
    const Process process(*this);
    UntilJobIs(job.id, JobStatus::kCompleted);
  }
  EXPECT_EQ(told.load(), 3);
  EXPECT_EQ(block.starts(), 6U);
}

TEST_F(JobPipeline, G5_AJobThatIsCancelledStartsNoFurtherRow) {
  settings.jobs.slots_lookup = 1;
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  auto beside = Numbers(1);  // while it is held, the process goes on to look
  beside.blocks[0].lane = domain::Lane::kResearch;
  Start(beside);
  const auto job = Numbers(5);
  Start(job);
  Process process(*this);
  Until("a row of each is in flight", [this] { return block.held() == 2; });
  End(job.id, JobStatus::kCancelled);
  UntilHeldIsRead();
  block.Release(process.loop);
  UntilJobIs(beside.id, JobStatus::kCompleted);
  EXPECT_EQ(block.starts(), 2U);
  EXPECT_EQ(Job(job.id, "status"), "4");
}

TEST_F(JobPipeline, G5_ALockedOrganisationStartsNoRowAndGoesOnAfterwards) {
  settings.jobs.slots_lookup = 1;
  const auto job = Numbers(2);
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  Start(job);
  Process process(*this);
  Until("a row is in flight", [this] { return block.held() == 1; });
  Sql("update organisation set locked = true");
  UntilHeldIsRead();
  block.SetScript(nullptr);
  block.Release(process.loop);
  Eventually("select rows_done from job_block", "1");
  Eventually("select count(*) from job_chunk where lease_token is null", "1");
  EXPECT_EQ(block.starts(), 1U);
  Sql("update organisation set locked = false");
  UntilJobIs(job.id, JobStatus::kCompleted);
}

TEST_F(JobPipeline, ARowIsTriedAgainWithinItsTimeAndThenFailsWithItsError) {
  const auto job = Numbers(2);
  block.SetScript([](const RowRequest& request, int attempt) -> std::optional<RowResult> {
    if (request.cells.at(0) == "1" && attempt > 1) return Ended({R"("second")"});
    return RowFailure{"provider_down", "it did not answer", request.cells.at(0) == "1", {}};
  });
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id), R"([["provider_down"],["second"]])");
  EXPECT_EQ(Sql("select row_errors from job_block"), "1");
}

TEST_F(JobPipeline, ALookupOfOneRowFailsWithItsRow) {
  const auto job = Numbers(1);
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> {
    return RowFailure{"providers_failed", "none could be asked", false, {}};
  });
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kFailed);
  EXPECT_EQ(Job(job.id, "status_reason"), "providers_failed");
}

TEST_F(JobPipeline, ARowThatIsToBeTriedLaterWaitsInTheDatabaseWithItsMemo) {
  const auto job = Numbers(2);
  std::promise<std::string> memo;
  block.SetScript([&memo](const RowRequest& request, int attempt) -> std::optional<RowResult> {
    if (request.cells.at(0) == "0") return Ended(request.cells);
    if (attempt == 1) return RowLater{std::chrono::minutes(10), R"({"tried": ["mx1"]})"};
    memo.set_value(request.memo);
    return Ended(request.cells);
  });
  Start(job);
  const Process process(*this);
  Eventually(
      "select count(*) from job_chunk where lease_token is null and claims = 0 and progress = 1 "
      "and available_at > now() + interval '9 minutes'",
      "1");
  EXPECT_EQ(Sql("select done -> 'rows' -> 0 ->> 0 from job_chunk"), "0");
  // The ten minutes are over.
  Sql("update job_chunk set available_at = now(), done = replace(done::text, "
      "(done -> 'later' -> '1' ->> 'at_us'), '1')::json");
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(memo.get_future().get(), R"({"tried":["mx1"]})");
  EXPECT_EQ(PartRows(job.id), "[[0],[1]]");
}

TEST_F(JobPipeline, APartWaitsForTheMailBudgetAsLongAsOneOfItsRowsDoes) {
  const auto job = Numbers(3);
  block.SetScript([](const RowRequest& request, int attempt) -> std::optional<RowResult> {
    if (request.cells.at(0) == "0" && attempt == 1) return RowLater{std::chrono::minutes(10), "{}"};
    if (request.cells.at(0) != "1" || attempt > 1) return Ended(request.cells);
    return RowLater{std::chrono::minutes(40), "{}", domain::JobWait::kMailBudget};
  });
  Start(job);
  const Process process(*this);
  Eventually("select count(*) from job_chunk where lease_token is null and waits_for = 1", "1");
  EXPECT_EQ(Sql("select rows_done from job_block"), "1");
  // The ten minutes of the greylisted row are over; the other row still waits, as its chunk says.
  Sql("update job_chunk set available_at = now(), done = replace(done::text, "
      "(done -> 'later' -> '0' ->> 'at_us'), '1')::json");
  Eventually("select rows_done from job_block", "2");
  Eventually(
      "select count(*) from job_chunk where lease_token is null and waits_for = 1 and "
      "available_at > now() + interval '30 minutes'",
      "1");
  Sql("update job_chunk set available_at = now(), done = replace(done::text, "
      "(done -> 'later' -> '1' ->> 'at_us'), '1')::json");
  UntilJobIs(job.id, JobStatus::kCompleted);
}

TEST_F(JobPipeline, ABulkWhoseLastRowEndsAtItsDeadlineIsTimedOut) {
  block.SetScript([](const RowRequest& request, int) -> std::optional<RowResult> {
    auto done = std::get<worker::RowDone>(Ended(request.cells));
    if (request.cells.at(0) == "1") done.error = worker::RowError{"timed_out", "no time was left"};
    return done;
  });
  settings.lookups.row_timeout_ms = std::chrono::minutes(2);
  auto in_time = Numbers(2);  // the row's own time was over, and its job's was not
  Start(in_time);
  auto late = Numbers(2);
  late.deadline = std::chrono::minutes(1);
  Start(late);
  const Process process(*this);
  UntilJobIs(in_time.id, JobStatus::kCompleted);
  UntilJobIs(late.id, JobStatus::kTimedOut);
  EXPECT_EQ(Job(late.id, "status_reason"), "deadline_exceeded");
  EXPECT_EQ(PartRows(late.id), "[[0],[1]]") << "what was found is kept";
}

TEST_F(JobPipeline, WhatEndsBeforeTheDeadlineOfAJobIsRecordedBeforeIt) {
  settings.jobs.record_partial_delay_ms = std::chrono::minutes(10);
  std::atomic<std::int64_t> left_ms = 0;
  block.SetScript([&left_ms](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.cells.at(0) == "0") return Ended(request.cells);
    left_ms = request.timeout.count();
    return std::nullopt;
  });
  auto job = Numbers(2);
  job.deadline = std::chrono::seconds(6);
  Start(job);
  const Process process(*this);
  Eventually("select rows_done from job_block", "1");
  EXPECT_GT(left_ms.load(), 0);
  EXPECT_LE(left_ms.load(), 5500) << "the row ends before its job does";
}

// A job's time counts from when its chunk was claimed, not from when that was wanted: a scan waits
// for a database that is away.
TEST_F(JobPipeline, G12_TheTimeThatAWalkWaitedIsNotTakenFromItsJobsTwice) {
  auto job = Numbers(2);
  job.deadline = std::chrono::seconds(8);
  Start(job);
  pqxx::connection connection(database.url());
  pqxx::work blocker(connection);
  blocker.exec("lock table job_chunk in access exclusive mode");
  const Process process(*this);
  Eventually("select count(*) > 0 from pg_locks where not granted", "t");
  Eventually("select now() > created_at + interval '4 s' from job", "t");
  blocker.abort();
  UntilJobIs(job.id, JobStatus::kCompleted);
}

TEST_F(JobPipeline, G10_AFullLaneDelaysNoOther) {
  settings.jobs.slots_research = 2;
  auto slow = Numbers(4);
  slow.blocks[0].lane = domain::Lane::kResearch;
  block.SetScript([&slow](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.job_id == slow.id) return std::nullopt;
    return Ended(request.cells);
  });
  Start(slow);
  Process process(*this);
  Until("the lane is full", [this] { return block.held() == 2; });
  const auto quick = Numbers(2);
  Start(quick);
  UntilJobIs(quick.id, JobStatus::kCompleted);
  EXPECT_EQ(block.held(), 2U);
}

TEST_F(JobPipeline, G10_AHugeBacklogOfOneOrganisationDoesNotDelayTheLookupOfAnother) {
  settings.jobs.slots_lookup = 40;  // of which 30 are for everybody
  const auto huge = Numbers(100, 4);
  block.SetScript([&huge](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.job_id == huge.id) return std::nullopt;
    return Ended(request.cells);
  });
  Start(huge);
  Process process(*this);
  Until("the backlog has its share", [this] { return block.held() == 27; });
  auto single = Numbers(1);
  single.org_id = NewOrganisation(0);
  Start(single);
  UntilJobIs(single.id, JobStatus::kCompleted);
  EXPECT_EQ(block.held(), 27U);
}

TEST_F(JobPipeline, G10_TheLastSlotsOfALaneAreForRowsThatAClientWaitsFor) {
  settings.jobs.slots_lookup = 8;  // of which 2 are kept
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  for (int i = 0; i < 8; ++i) {  // enough organisations to fill what is there for them
    auto job = Numbers(4);
    job.org_id = NewOrganisation(0);
    Start(job);
  }
  Process process(*this);
  Until("what is for everybody is full", [this] { return block.held() == 6; });
  auto waited = Numbers(1);
  waited.waited = true;
  Start(waited);
  Until("the waited row starts", [this] { return block.held() == 7; });
  EXPECT_EQ(block.started().back(), "0");
}

// A claim took sixteen chunks of an organisation behind the cursor, and nothing wakes the
// scan: neither a signal nor, within this test's time, the poll.
TEST_F(JobPipeline, G10_WhatAWalkLeavesIsClaimedWithoutAPoll) {
  settings.worker.poll_ms = std::chrono::minutes(60);
  settings.worker.orgs_per_scan_max = 1;
  settings.jobs.slots_lookup = 40;  // of which an organisation that is alone uses 27
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  const auto job = Numbers(60, 1);
  Start(job);
  Process process(*this);
  Until("its share of the lane is full", [this] { return block.held() == 27; });
  Until("the job has ended", [&] {
    block.Release(process.loop);
    return Job(job.id, "status") == "2";
  });
  EXPECT_EQ(block.starts(), 60U);
}

TEST_F(JobPipeline, ScansAreAsManyAsClaimsHoweverManyRowsEnd) {
  settings.worker.poll_ms = std::chrono::minutes(60);
  settings.jobs.slots_lookup = 64;
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  const auto job = Numbers(400, 1);
  Start(job);
  Process process(*this);
  Until("the job has ended", [&] {
    block.Release(process.loop);
    return Job(job.id, "status") == "2";
  });
  const double scans = Series(R"(vedette_db_query_seconds_count{query="job_scan"})");
  const double claims = Series(R"(vedette_db_query_seconds_count{query="job_claim"})");
  EXPECT_LE(scans, 2 * claims + 2) << "each claim has a scan, and one after it that finds no room";
}

TEST_F(JobPipeline, ARowThatKillsItsWorkerIsFoundAndTheOthersAreDone) {
  const auto job = Numbers(3);
  block.SetScript([](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.cells.at(0) == "1") return std::nullopt;  // it kills the process, below
    return Ended(request.cells);
  });
  Start(job);
  Sql(fmt::format("update job_chunk set claims = {}", settings.worker.claims_max));
  {
    Process killed(*this);
    Until("the row is tried", [this] { return block.held() == 1; });
    EXPECT_EQ(block.starts(), 2U) << "no row is tried beside it, nor after it";
    EXPECT_EQ(Sql("select suspect from job_chunk"), "1");
    killed.Kill();
  }
  EndLeases();
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id), R"([[0],["row_crashed"],[2]])");
  EXPECT_EQ(block.starts(), 3U);
}

TEST_F(JobPipeline, ADrainGivesBackWhatIsNotStartedAndRecordsWhatIs) {
  settings.jobs.slots_lookup = 1;
  const auto job = Numbers(3);
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  Start(job);
  {
    Process process(*this);
    Until("a row is in flight", [this] { return block.held() == 1; });
    auto drained = process.Drain();
    block.Release(process.loop);
    ASSERT_EQ(drained.wait_for(std::chrono::seconds(120)), std::future_status::ready);
  }
  EXPECT_EQ(Sql("select rows_done from job_block"), "1");
  EXPECT_EQ(Sql("select count(*) from job_chunk where lease_token is null and claims = 0 "
                "and available_at <= now()"),
            "1");
}

TEST_F(JobPipeline, ADrainThatIsOutOfTimeWaitsForNoRow) {
  settings.worker.drain_timeout_ms = std::chrono::milliseconds(50);
  Start(Numbers(2));
  block.SetScript([](const RowRequest&, int) -> std::optional<RowResult> { return std::nullopt; });
  Process process(*this);
  Until("rows are in flight", [this] { return block.held() == 2; });
  ASSERT_EQ(process.Drain().wait_for(std::chrono::seconds(120)), std::future_status::ready);
  EXPECT_EQ(Sql("select count(*) from job_chunk where lease_token is null"), "1");
  block.Release(process.loop);
}

TEST_F(JobPipeline, ABlockOfAnUnknownTypeIsGivenBackForAnotherBinary) {
  auto job = Numbers(1);
  job.blocks[0].type = "of_tomorrow";
  Start(job);
  const Process process(*this);
  Eventually(
      "select count(*) from job_chunk where lease_token is null and claims = 0 "
      "and available_at > now() + interval '20 seconds'",
      "1");
  EXPECT_EQ(Job(job.id, "finished_at"), "");
}

TEST_F(JobPipeline, ABlockThatCannotBeBoundFailsItsJob) {
  auto job = Numbers(1);
  job.blocks[0].specs_json = R"({"surplus": true})";
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kFailed);
  EXPECT_EQ(Job(job.id, "status_reason || ': ' || error"),
            "block_failed: a scripted block has no specs");
}

TEST_F(JobPipeline, ARowWhoseOutputIsTooLargeEndsWithThatError) {
  settings.limits.row_bytes_max = 100;
  const auto job = Numbers(2);
  block.SetScript([](const RowRequest& request, int) -> std::optional<RowResult> {
    if (request.cells.at(0) == "1") return Ended({"\"" + std::string(200, 'x') + "\""});
    return Ended(request.cells);
  });
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kCompleted);
  EXPECT_EQ(PartRows(job.id), R"([[0],["row_too_large"]])");
}

TEST_F(JobPipeline, APartThatCannotBeStoredFailsItsJob) {
  const auto job = Numbers(1);
  block.SetScript(
      [](const RowRequest&, int) -> std::optional<RowResult> { return Ended({"no JSON"}); });
  Start(job);
  const Process process(*this);
  UntilJobIs(job.id, JobStatus::kFailed);
  EXPECT_EQ(Job(job.id, "error"), "the rows of a part could not be stored");
}

}  // namespace
}  // namespace vedette::test
