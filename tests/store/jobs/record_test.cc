#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <pqxx/pqxx>
#include <string>
#include <thread>

#include "tests/store/support/jobs_support.h"

// The record of rows of jobs: what takes effect, once, and what follows from it (G1).
namespace vedette::test {
namespace {

using domain::JobStatus;
using store::JobRecorded;

class JobsRecord : public JobsTest {
 public:
  std::string Part(const std::string& column) { return Sql("select " + column + " from job_part"); }
};

TEST_F(JobsRecord, TheLastPartChargesItsRowsReturnsTheRestAndCompletesTheJob) {
  const auto job = Start(Lookup(10, 5000));
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_EQ(Job(job, "status"), "1");
  const auto result = RecordJob(job, {PartEnd(claim.chunks[0], 10, 7, 5000)});
  EXPECT_EQ(result.chunks, std::vector{JobRecorded::kRecorded});
  EXPECT_EQ(EndIn(result), JobStatus::kCompleted);
  EXPECT_EQ(Job(job, "status || ' ' || reserved_mc || ' ' || charged_mc || ' ' || estimate_mc"),
            "2 0 35000 50000");
  EXPECT_EQ(BalanceOf(org), 965'000);
  EXPECT_EQ(Sql("select amount_mc || ' for ' || checks from credit_entry where job_id is not null"),
            "-35000 for 7");
  EXPECT_EQ(Part("row_count"), "10");
  EXPECT_EQ(Sql("select status || ' ' || rows_done || ' ' || rows_out || ' ' || rows_charged from "
                "job_block"),
            "2 10 10 7");
  EXPECT_EQ(Job(job, "created_at <= started_at and started_at <= finished_at"), "t") << "G6";
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, ALookupWhoseOnlyRowFailedHasFailed) {
  const auto job = Start(Lookup(1, 5000));
  auto record = PartEnd(Claim().chunks.at(0));
  std::get<store::JobPartEnd>(record.what).error_code = "providers_failed";
  std::get<store::JobPartEnd>(record.what).error = "No provider answered.";
  EXPECT_EQ(EndIn(RecordJob(job, {record})), JobStatus::kFailed);
  EXPECT_EQ(Job(job, "status_reason || ': ' || error"), "providers_failed: No provider answered.");
  EXPECT_EQ(BalanceOf(org), 1'000'000);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, G1_ARecordUnderALeaseThatWasLostIsDropped) {
  const auto job = Start(Lookup(1, 5000));
  const auto frozen = Claim();
  Sql("update job_chunk set available_at = now()");
  const auto taken = Claim();
  ASSERT_EQ(taken.chunks.size(), 1U);
  EXPECT_EQ(taken.chunks[0].claims, 2);
  EXPECT_EQ(RecordOne(job, PartEnd(frozen.chunks[0], 1, 1, 5000)), JobRecorded::kDropped);
  EXPECT_EQ(Part("count(*)"), "0");
  EXPECT_EQ(RecordOne(job, PartEnd(taken.chunks[0], 1, 1, 5000)), JobRecorded::kRecorded);
  EXPECT_EQ(Job(job, "charged_mc"), "5000");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, G1_ARecordOfUnknownCommitThatHappenedIsNotMadeTwice) {
  const auto job = Start(Lookup(3, 5000));
  auto chunk = Claim().chunks.at(0);
  const auto first = Progress(chunk, R"({"rows": [["a"], null, null]})", 1, 5000);
  EXPECT_EQ(RecordOne(job, first), JobRecorded::kRecorded);
  EXPECT_EQ(RecordOne(job, first), JobRecorded::kBefore);
  EXPECT_EQ(Job(job, "charged_mc"), "5000");
  EXPECT_EQ(Sql("select progress || ' ' || claims from job_chunk"), "1 0");
  chunk.progress = 1;
  const auto last = PartEnd(chunk, 3, 2, 5000);
  EXPECT_EQ(RecordOne(job, last), JobRecorded::kRecorded);
  EXPECT_EQ(RecordOne(job, last), JobRecorded::kDropped) << "its chunk is gone";
  EXPECT_EQ(Job(job, "charged_mc"), "15000");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, G1_ARecordBehindTheProgressIsDropped) {
  const auto job = Start(Lookup(3, 5000));
  const auto chunk = Claim().chunks.at(0);
  const auto stale = Progress(chunk, R"({"rows": [["a"], null, null]})", 1, 5000);
  EXPECT_EQ(RecordOne(job, stale), JobRecorded::kRecorded);
  auto second = stale;
  second.progress = 1;
  EXPECT_EQ(RecordOne(job, second), JobRecorded::kRecorded);
  EXPECT_EQ(RecordOne(job, stale), JobRecorded::kDropped);
  EXPECT_EQ(Job(job, "charged_mc"), "10000");
}

TEST_F(JobsRecord, G1_APartThatExistsIsNotWrittenAgainAndNothingElseHappens) {
  const auto job = Start(Lookup(1, 5000));
  const auto chunk = Claim().chunks.at(0);
  Sql(fmt::format("insert into job_part values ('{}', 0, 0, '[]', 0)", job.ToString()));
  EXPECT_THROW(RecordOne(job, PartEnd(chunk, 1, 1, 5000)), std::exception);
  EXPECT_EQ(Job(job, "charged_mc || ' ' || status"), "0 1");
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "1");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, G4_MoreThanIsReservedIsNeverCharged) {
  const auto job = Start(Lookup(1, 5000));
  const auto chunk = Claim().chunks.at(0);
  EXPECT_THROW(RecordOne(job, PartEnd(chunk, 1, 2, 5000)), std::logic_error);
  EXPECT_EQ(Job(job, "charged_mc || ' ' || status"), "0 1");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, WhoTakesOverAChunkGetsWhatWasRecordedOfIt) {
  const auto job = Start(Lookup(2, 5000));
  RecordOne(job, Progress(Claim().chunks.at(0), R"({"rows": [["a"], null]})", 1, 5000));
  Sql("update job_chunk set available_at = now()");
  const auto taken = Claim().chunks.at(0);
  EXPECT_EQ(taken.done_json, R"({"rows": [["a"], null]})");
  EXPECT_EQ(taken.progress, 1);
  EXPECT_EQ(taken.claims, 1) << "progress makes claims count from zero";
  EXPECT_EQ(RecordOne(job, PartEnd(taken, 2, 1, 5000)), JobRecorded::kRecorded);
  EXPECT_EQ(Job(job, "charged_mc"), "10000");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, InSerialModeClaimsGoOnCountingAndARecordClearsTheSuspect) {
  const auto job = Start(Lookup(2));
  Claim();
  Sql("update job_chunk set available_at = now()");
  const auto chunk = Claim().chunks.at(0);
  ASSERT_TRUE(store::MarkJobSuspect(session, chunk.lease, 1));
  auto record = Progress(chunk, R"({"rows": [null, ["crashed"]]})");
  std::get<store::JobPartProgress>(record.what).serial = true;
  EXPECT_EQ(RecordOne(job, record), JobRecorded::kRecorded);
  EXPECT_EQ(Sql("select claims || ' ' || coalesce(suspect, -2) from job_chunk"), "2 -2");
}

TEST_F(JobsRecord, AChainOfBlocksIsWorkedPartByPartToItsEnd) {
  const auto job = Start(Run(5, 3, 2));
  int records = 0;
  for (auto claim = Claim(1); !claim.chunks.empty(); claim = Claim(1)) {
    for (const auto& chunk : claim.chunks) {
      EXPECT_TRUE(chunk.rows_json.has_value());
      EXPECT_EQ(RecordOne(job, PartEnd(chunk, 2)), JobRecorded::kRecorded);
      ++records;
    }
  }
  EXPECT_EQ(records, 15);
  EXPECT_EQ(Job(job, "status"), "2");
  EXPECT_EQ(Part("count(*)"), "20");
}

TEST_F(JobsRecord, EightChunksOfAJobAreOneRecord) {
  const auto job = Start(Run(8, 1, 8));
  std::vector<store::JobChunkRecord> records;
  for (const auto& chunk : Claim().chunks) records.push_back(PartEnd(chunk, 2));
  ASSERT_EQ(records.size(), 8U);
  const auto result = RecordJob(job, records);
  EXPECT_EQ(result.chunks, std::vector(8, JobRecorded::kRecorded));
  EXPECT_EQ(EndIn(result), JobStatus::kCompleted);
  EXPECT_EQ(Sql("select parts_done || ' ' || rows_out from job_block where block = 1"), "8 16");
}

TEST_F(JobsRecord, ABlockWithoutPartsIsCompletedWithItsInput) {
  auto run = Run(2, 2, 2);
  run.blocks[2].type = "outgoing_webhook";
  run.blocks[2].parts_total = 0;
  const auto job = Start(run);
  for (const auto& chunk : Claim().chunks) RecordOne(job, PartEnd(chunk, 2));
  EXPECT_EQ(Job(job, "status"), "2");
  EXPECT_EQ(Sql("select status from job_block where block = 2"), "2");
}

TEST_F(JobsRecord, ABlockThatCannotGoOnFailsTheJob) {
  const auto job = Start(Run(3, 2, 2));
  const auto claim = Claim();
  auto record = PartEnd(claim.chunks[0]);
  record.rows_done = 0;
  record.what = store::JobFault{"block_failed", "The column x is not in the input."};
  const auto result = RecordJob(job, {record});
  EXPECT_EQ(EndIn(result), JobStatus::kFailed);
  EXPECT_EQ(Sql("select status || ' ' || error from job_block where block = 1"),
            "3 The column x is not in the input.");
  EXPECT_EQ(Job(job, "status || ' ' || status_reason"), "3 block_failed");
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
}

TEST_F(JobsRecord, ARecordThatFailsItsJobLocksItsChunksInTheOrderOfRenewals) {
  const auto job = Start(Run(3, 2, 2));
  auto claim = Claim();
  std::sort(claim.chunks.begin(), claim.chunks.end(),
            [](const auto& a, const auto& b) { return a.lease.id < b.lease.id; });
  auto record = PartEnd(claim.chunks.back());
  record.rows_done = 0;
  record.what = store::JobFault{"block_failed", "The column x is not in the input."};
  // A renewal that has come to the first chunk, and has the last one still before it.
  pqxx::connection connection(database.url());
  pqxx::work renewal(connection);
  const auto lock = [&](const store::ClaimedJobChunk& chunk) {
    renewal.exec("select from job_chunk where id = '" + chunk.lease.id.ToString() +
                 "' for update nowait");
  };
  lock(claim.chunks.front());
  auto other = OtherSession();
  std::thread failing([&] { store::RecordJobChunks(*other, clock, {record}); });
  Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  EXPECT_NO_THROW(lock(claim.chunks.back()));
  renewal.commit();
  failing.join();
  EXPECT_EQ(Job(job, "status || ' ' || status_reason"), "3 block_failed");
}

// What a statement reads beside the row that it locks is as it was before it waited for the lock.
TEST_F(JobsRecord, G1_TheLastPartEndsItsJobThoughAnotherBlockWasCompletedWhileItWaited) {
  const auto job = Start(Run(1, 2, 1));
  RecordOne(job, PartEnd(Claim().chunks.at(0), 2));
  const auto last = Claim().chunks.at(0);
  ASSERT_EQ(last.block, 2);
  Sql("update job_block set status = 1, finished_at = null where block = 1");
  pqxx::connection connection(database.url());
  pqxx::work completing(connection);
  completing.exec("select from job for update");
  auto other = OtherSession();
  std::thread ending([&] { store::RecordJobChunks(*other, clock, {PartEnd(last, 2)}); });
  Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  completing.exec("update job_block set status = 2, finished_at = now() where block = 1");
  completing.commit();
  ending.join();
  EXPECT_EQ(Job(job, "status"), "2");
}

// The keeper waits for no lock, and the records of a job in small parts lock it without a gap.
TEST_F(JobsRecord, G7_ARecordThatComesAfterTheDeadlineEndsItsJobAndCounts) {
  auto run = Run(3, 1, 3);
  run.blocks[1].price_mc = 1000;
  run.estimate_mc = 6000;
  const auto job = Start(run);
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 3U);
  RecordOne(job, PartEnd(claim.chunks[0], 2, 2, 1000));
  Sql("update job set deadline_at = now()");
  {
    pqxx::connection connection(database.url());
    pqxx::work other(connection);
    other.exec("select from job for no key update");
    EXPECT_EQ(store::EndOverdueJobs(session, clock).ended, 0) << "it is locked";
  }
  const auto result = RecordJob(job, {PartEnd(claim.chunks[1], 2, 2, 1000)});
  EXPECT_EQ(EndIn(result), JobStatus::kTimedOut);
  EXPECT_EQ(Job(job, "status || ' ' || status_reason || ' ' || charged_mc || ' ' || reserved_mc"),
            "6 deadline_exceeded 4000 0");
  EXPECT_EQ(Sql("select count(*) from job_part where block = 1"), "2");
  EXPECT_EQ(RecordOne(job, PartEnd(claim.chunks[2], 2)), JobRecorded::kDropped);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsRecord, ARecordThatCompletesItsJobAfterTheDeadlineCompletesIt) {
  const auto job = Start(Lookup(2));
  const auto claim = Claim();
  Sql("update job set deadline_at = now()");
  EXPECT_EQ(EndIn(RecordJob(job, {PartEnd(claim.chunks.at(0), 2)})), JobStatus::kCompleted);
}

// A run whose first block drops rows, and whose second has a price.
class JobsTopUp : public JobsRecord {
 public:
  store::NewJob Dropping() const {
    auto run = Run(2, 2, 2);
    run.blocks[2].price_mc = 10'000;
    run.blocks[2].after_drop = true;
    return run;
  }
};

TEST_F(JobsTopUp, RowsThatComeThroughAreReservedForInTheirRecord) {
  const auto job = Start(Dropping());
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 2U);
  RecordOne(job, PartEnd(claim.chunks[0], 1));
  EXPECT_EQ(Job(job, "estimate_mc || ' ' || reserved_mc"), "10000 10000");
  EXPECT_EQ(BalanceOf(org), 990'000);
  ExpectJobMoneyAddsUp();
  RecordOne(job, PartEnd(claim.chunks[1], 2));
  EXPECT_EQ(Job(job, "estimate_mc || ' ' || reserved_mc"), "30000 30000");
  for (const auto& chunk : Claim().chunks) {
    RecordOne(job, PartEnd(chunk, chunk.row_count, chunk.row_count, 10'000));
  }
  EXPECT_EQ(Job(job, "status || ' ' || charged_mc"), "2 30000");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsTopUp, WhereTheyCannotBePaidTheJobFailsAndKeepsWhatWasMade) {
  const auto job = Start(Dropping());
  Sql("update account set balance_mc = 15000; update credit_entry set amount_mc = 15000");
  const auto claim = Claim();
  RecordOne(job, PartEnd(claim.chunks[0], 1));
  const auto result = RecordJob(job, {PartEnd(claim.chunks[1], 2)});
  EXPECT_EQ(EndIn(result), JobStatus::kFailed);
  EXPECT_EQ(Job(job, "status_reason || ' ' || reserved_mc"), "insufficient_credits 0");
  EXPECT_EQ(BalanceOf(org), 15'000);
  EXPECT_EQ(Sql("select count(*) from job_part where block = 1"), "2");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsTopUp, ATeamsLimitEndsTheJobToo) {
  auto run = Dropping();
  run.team_id = NewTeam(15'000);
  const auto job = Start(run);
  const auto claim = Claim();
  RecordOne(job, PartEnd(claim.chunks[0], 1));
  EXPECT_EQ(Sql("select spent_mc from team_spend"), "10000");
  RecordOne(job, PartEnd(claim.chunks[1], 2));
  EXPECT_EQ(Job(job, "status_reason"), "spend_limit_reached");
  EXPECT_EQ(Sql("select spent_mc from team_spend"), "0");
}

}  // namespace
}  // namespace vedette::test
