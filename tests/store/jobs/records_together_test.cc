#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/store/support/jobs_support.h"

// Records of several jobs in one transaction: each job as if it had been recorded by itself (G1).
namespace vedette::test {
namespace {

using domain::JobStatus;
using store::JobRecorded;

class JobsTogether : public JobsTest {
 public:
  // Claims all that is due; the chunk of each of these jobs, in their order.
  std::vector<store::ClaimedJobChunk> ClaimOf(const std::vector<base::Uuid>& jobs) {
    const auto claim = Claim();
    std::vector<store::ClaimedJobChunk> chunks;
    for (const base::Uuid& job : jobs) {
      const auto of_job = std::find_if(claim.chunks.begin(), claim.chunks.end(),
                                       [&](const auto& chunk) { return chunk.job_id == job; });
      EXPECT_NE(of_job, claim.chunks.end());
      if (of_job != claim.chunks.end()) chunks.push_back(*of_job);
    }
    return chunks;
  }
  std::vector<base::Uuid> StartLookups(int n) {
    std::vector<base::Uuid> jobs;
    for (int i = 0; i < n; ++i) jobs.push_back(Start(Lookup(1, 1000)));
    return jobs;
  }
};

TEST_F(JobsTogether, EachJobEndsItsOwnWayAndPaysItsOwn) {
  const auto jobs = StartLookups(4);
  const auto chunks = ClaimOf(jobs);
  ASSERT_EQ(chunks.size(), 4U);
  auto failed = PartEnd(chunks[1]);
  failed.row_errors = 1;
  std::get<store::JobPartEnd>(failed.what).error_code = "providers_failed";
  std::get<store::JobPartEnd>(failed.what).error = "No provider answered.";
  auto lost = PartEnd(chunks[2], 1, 1, 1000);
  lost.lease.token = base::Uuid::V4();
  auto faulty = PartEnd(chunks[3]);
  faulty.rows_done = 0;
  faulty.what = store::JobFault{"block_failed", "The specs are bad."};
  const auto result = store::RecordJobChunks(
      session, clock, {faulty, lost, PartEnd(chunks[0], 1, 1, 1000), failed});
  EXPECT_EQ(result.chunks, (std::vector{JobRecorded::kRecorded, JobRecorded::kDropped,
                                        JobRecorded::kRecorded, JobRecorded::kRecorded}));
  EXPECT_EQ(result.ended, (std::map<base::Uuid, JobStatus>{{jobs[0], JobStatus::kCompleted},
                                                           {jobs[1], JobStatus::kFailed},
                                                           {jobs[3], JobStatus::kFailed}}));
  EXPECT_EQ(Job(jobs[0], "charged_mc || ' ' || reserved_mc"), "1000 0");
  EXPECT_EQ(Job(jobs[1], "charged_mc || ' ' || status_reason"), "0 providers_failed");
  EXPECT_EQ(Job(jobs[2], "charged_mc || ' ' || reserved_mc || ' ' || status"), "0 1000 1");
  EXPECT_EQ(Job(jobs[3], "status_reason || ' ' || error"), "block_failed The specs are bad.");
  EXPECT_EQ(BalanceOf(org), 998'000);
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "1") << "the one that was lost";
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsTogether, G1_ARecordThatHappenedIsNotMadeTwiceForAnyOfThem) {
  const auto jobs = StartLookups(3);
  std::vector<store::JobChunkRecord> records;
  for (const auto& chunk : ClaimOf(jobs)) records.push_back(PartEnd(chunk, 1, 1, 1000));
  store::RecordJobChunks(session, clock, records);
  const auto again = store::RecordJobChunks(session, clock, records);
  EXPECT_EQ(again.chunks, std::vector(3, JobRecorded::kDropped));
  EXPECT_TRUE(again.ended.empty());
  EXPECT_EQ(Sql("select sum(charged_mc) || ' ' || count(*) from job"), "3000 3");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsTogether, OneOfThemThatHasEndedMeanwhileLeavesTheOthersAlone) {
  const auto jobs = StartLookups(2);
  std::vector<store::JobChunkRecord> records;
  for (const auto& chunk : ClaimOf(jobs)) records.push_back(PartEnd(chunk, 1, 1, 1000));
  End(jobs[0], JobStatus::kCancelled);
  const auto result = store::RecordJobChunks(session, clock, records);
  EXPECT_EQ(result.chunks, (std::vector{JobRecorded::kDropped, JobRecorded::kRecorded}));
  EXPECT_EQ(Job(jobs[0], "status || ' ' || charged_mc"),
            fmt::format("{} 0", static_cast<int>(JobStatus::kCancelled)));
  EXPECT_EQ(BalanceOf(org), 999'000);
  ExpectJobMoneyAddsUp();
}

// Whatever the order in which they are given, jobs are locked by their ids.
TEST_F(JobsTogether, TwoRecordsOfTheSameJobsWaitForEachOtherAndNeverBothForTheOther) {
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    const auto jobs = StartLookups(6);
    std::vector<store::JobChunkRecord> records;
    for (const auto& chunk : ClaimOf(jobs)) records.push_back(PartEnd(chunk, 1, 1, 1000));
    auto reversed = records;
    std::reverse(reversed.begin(), reversed.end());
    std::vector<int> recorded(2);
    const auto record = [&](const std::vector<store::JobChunkRecord>& given, int* count) {
      const auto own = OtherSession();
      const auto result = store::RecordJobChunks(*own, clock, given);
      *count = static_cast<int>(
          std::count(result.chunks.begin(), result.chunks.end(), JobRecorded::kRecorded));
    };
    std::thread one([&] { record(records, &recorded[0]); });
    std::thread other([&] { record(reversed, &recorded[1]); });
    one.join();
    other.join();
    EXPECT_EQ(recorded[0] + recorded[1], 6);
  }
  EXPECT_EQ(Sql("select deadlocks from pg_stat_database where datname = current_database()"), "0");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsTogether, ManyLookupsTakeTheStatementsOfOne) {
  const auto cost_of = [&](int n) {
    const auto jobs = StartLookups(n);
    std::vector<store::JobChunkRecord> records;
    for (const auto& chunk : ClaimOf(jobs)) records.push_back(PartEnd(chunk, 1, 1, 1000));
    const double before = StatementsSoFar();
    const auto result = store::RecordJobChunks(session, clock, records);
    EXPECT_EQ(result.ended.size(), static_cast<std::size_t>(n));
    return StatementsSoFar() - before;
  };
  EXPECT_EQ(cost_of(1), 4);
  EXPECT_EQ(cost_of(20), 4);
}

TEST_F(JobsTogether, WhatEachDidNotUseReturnsAtOnce) {
  std::vector<base::Uuid> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(Start(Lookup(10, 1000)));
  EXPECT_EQ(BalanceOf(org), 950'000);
  std::vector<store::JobChunkRecord> records;
  int charged = 0;
  for (const auto& chunk : ClaimOf(jobs)) records.push_back(PartEnd(chunk, 10, ++charged, 1000));
  store::RecordJobChunks(session, clock, records);
  EXPECT_EQ(BalanceOf(org), 1'000'000 - (1 + 2 + 3 + 4 + 5) * 1000);
  ExpectJobMoneyAddsUp();
}

// A part that the blocks behind it were worked on at once.
class JobsPassed : public JobsTogether {
 public:
  // The record of the first block's part, which `blocks` further ones have worked on.
  store::JobChunkRecord Passed(const store::ClaimedJobChunk& chunk, int blocks) {
    auto record = PartEnd(chunk, 2);
    auto& end = std::get<store::JobPartEnd>(record.what);
    for (int i = 1; i <= blocks; ++i) {
      end.passed.push_back({chunk.block + i, {{0, "[[7]]", 1}}, {}, i == 1 ? 2 : 1, 0});
    }
    return record;
  }
};

TEST_F(JobsPassed, EachBlockHasItsPartAndTheRunItsEnd) {
  const auto job = Start(Run(1, 3, 1));
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 1U);
  const auto result = RecordJob(job, {Passed(claim.chunks[0], 2)});
  EXPECT_EQ(EndIn(result), JobStatus::kCompleted);
  EXPECT_EQ(Sql("select string_agg(block || ':' || rows, ' ' order by block) from job_part"),
            "0:[[1],[2]] 1:[[0],[1]] 2:[[7]] 3:[[7]]");
  EXPECT_EQ(
      Sql("select string_agg(concat_ws(',', opened, parts_done, rows_done, rows_out, status), "
          "' ' order by block) from job_block"),
      "1,1,2,2,2 1,1,2,2,2 1,1,2,1,2 1,1,1,1,2");
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
}

TEST_F(JobsPassed, WhereItStopsTheNextBlockGetsItsChunk) {
  const auto job = Start(Run(1, 3, 1));
  const auto result = RecordJob(job, {Passed(Claim().chunks.at(0), 1)});
  EXPECT_EQ(EndIn(result), std::nullopt);
  const auto next = Claim();
  ASSERT_EQ(next.chunks.size(), 1U);
  EXPECT_EQ(next.chunks[0].block, 3);
  EXPECT_EQ(next.chunks[0].rows_json, "[[7]]");
  EXPECT_EQ(EndIn(RecordJob(job, {PartEnd(next.chunks[0], 1)})), JobStatus::kCompleted);
}

// What an earlier block lets through is reserved for where a later one is paid, also when nothing
// was claimed between the two.
TEST_F(JobsPassed, WhatComesThroughIsReservedForBehindTheLastOfThem) {
  auto run = Run(1, 3, 1);
  run.blocks[3].price_mc = 10'000;
  run.blocks[3].after_drop = true;
  const auto job = Start(run);
  RecordJob(job, {Passed(Claim().chunks.at(0), 1)});
  EXPECT_EQ(Job(job, "estimate_mc || ' ' || reserved_mc"), "10000 10000");
  EXPECT_EQ(BalanceOf(org), 990'000);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsPassed, G1_UnderALeaseThatWasLostNothingOfItHappens) {
  const auto job = Start(Run(1, 2, 1));
  const auto frozen = Claim().chunks.at(0);
  Sql("update job_chunk set available_at = now()");
  const auto taken = Claim().chunks.at(0);
  EXPECT_EQ(RecordOne(job, Passed(frozen, 1)), JobRecorded::kDropped);
  EXPECT_EQ(Sql("select count(*) from job_part where block > 0"), "0");
  EXPECT_EQ(RecordOne(job, Passed(taken, 1)), JobRecorded::kRecorded);
  EXPECT_EQ(Sql("select count(*) from job_part where block > 0"), "2");
}

}  // namespace
}  // namespace vedette::test
