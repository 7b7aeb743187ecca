// What users of other engines of workflows complain of in public, and what keeps it from happening
// to runs here (docs/guarantees.md names the complaints; the others are tests/e2e/
// test_run_complaints.py, test_workflows.py and the tests of the fleet).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <string>
#include <thread>

#include "store/jobs/keeper.h"
#include "tests/store/support/jobs_support.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::JobStatus;

class RunComplaints : public JobsTest {
 public:
  // The chunk of a block; there is one.
  static store::ClaimedJobChunk Of(const store::JobClaim& claim, int block) {
    for (const auto& chunk : claim.chunks) {
      if (chunk.block == block) return chunk;
    }
    throw std::out_of_range(fmt::format("no part of block {} is open", block));
  }
};

// n8n 25165: the completion of a run overwrites that it was cancelled.
TEST_F(RunComplaints, ACancelThatRacesTheLastPartWinsOrLosesWhole) {
  int completed = 0;
  for (int round = 0; round < 60; ++round) {
    const auto run = Start(Run(1, 1, 1));
    const auto last = Claim().chunks.at(0);
    const auto other = OtherSession();
    std::optional<store::JobEndOutcome> cancelled;
    std::barrier begin(2);
    std::thread cancel([&] {
      begin.arrive_and_wait();
      cancelled = store::EndJob(*other, clock, {org, {}}, run,
                                {JobStatus::kCancelled, "cancelled_by_client", {}});
    });
    begin.arrive_and_wait();
    const auto recorded = RecordJob(run, {PartEnd(last, 2)});
    cancel.join();
    const bool won = EndIn(recorded) == JobStatus::kCompleted;
    completed += won ? 1 : 0;
    EXPECT_EQ(cancelled->status, won ? JobStatus::kCompleted : JobStatus::kCancelled);
    EXPECT_EQ(Job(run, "status"), won ? "2" : "4");
    EXPECT_EQ(Sql(fmt::format("select count(*) from job_part where job_id = '{}' and block = 1",
                              run.ToString())),
              won ? "1" : "0");
    EXPECT_EQ(End(run, JobStatus::kFailed)->status, cancelled->status) << "an end is final";
  }
  RecordProperty("completed_of_60", completed);
}

// windmill 9214, Airflow 7927: what a worker brings late fails the run, or does a step twice.
TEST_F(RunComplaints, AFrozenWorkersPartIsDroppedAndTheRunCompletes) {
  const auto run = Start(Run(2, 1, 1));
  const auto frozen = Claim().chunks.at(0);
  Sql("update job_chunk set available_at = now()");  // its lease ends
  const auto heirs = Claim().chunks.at(0);
  ASSERT_EQ(heirs.lease.id, frozen.lease.id);
  EXPECT_EQ(RecordOne(run, PartEnd(frozen, 1)), store::JobRecorded::kDropped) << "before the heir";
  EXPECT_EQ(RecordOne(run, PartEnd(heirs, 2)), store::JobRecorded::kRecorded);
  EXPECT_EQ(RecordOne(run, PartEnd(frozen, 1)), store::JobRecorded::kDropped) << "after it";
  EXPECT_EQ(RecordOne(run, PartEnd(Claim().chunks.at(0), 2)), store::JobRecorded::kRecorded);
  EXPECT_EQ(Job(run, "status"), "2");
  EXPECT_EQ(RecordOne(run, PartEnd(frozen, 1)), store::JobRecorded::kDropped) << "after the end";
  EXPECT_EQ(Sql("select string_agg(part || ':' || row_count, ' ' order by part) from job_part "
                "where block = 1"),
            "0:2 1:2");
  EXPECT_EQ(Sql("select rows_done || ' ' || rows_out || ' ' || parts_done from job_block "
                "where block = 1"),
            "4 4 2");
}

// windmill PR 6815: the state of a loop goes wrong where its steps end at the same time. A part of
// the producer and one of its consumer are recorded at once, by two sessions; each of the two may
// be what lets the consumer's next part be opened, and one of them has to open it, once.
// VEDETTE_TEST_RACE_ROUNDS for more of them than a build takes time for.
TEST_F(RunComplaints, AProducerAndAConsumerRace) {
  const char* asked = std::getenv("VEDETTE_TEST_RACE_ROUNDS");
  const int rounds = asked == nullptr ? 500 : std::stoi(asked);
  constexpr int kProducer = 1;
  constexpr int kConsumer = 2;
  const auto run = Start(Run(rounds + 1, 2, 1));
  RecordOne(run, PartEnd(Claim().chunks.at(0), 2));  // the producer is a part ahead
  const auto other = OtherSession();
  for (int round = 0; round < rounds; ++round) {
    const auto claim = Claim();
    ASSERT_EQ(claim.chunks.size(), 2U) << "round " << round << ": each block has a part open";
    const auto produced = PartEnd(Of(claim, kProducer), 2);
    const auto consumed = PartEnd(Of(claim, kConsumer), 2);
    ASSERT_EQ(produced.part, round + 1);
    ASSERT_EQ(consumed.part, round);
    std::barrier begin(2);
    std::thread consumer([&] {
      begin.arrive_and_wait();
      const auto result = store::RecordJobChunks(*other, clock, {consumed});
      EXPECT_EQ(result.chunks.at(0), store::JobRecorded::kRecorded);
    });
    begin.arrive_and_wait();
    EXPECT_EQ(RecordOne(run, produced), store::JobRecorded::kRecorded);
    consumer.join();
  }
  const auto last = Claim();
  ASSERT_EQ(last.chunks.size(), 1U);
  EXPECT_EQ(EndIn(RecordJob(run, {PartEnd(Of(last, kConsumer), 2)})), JobStatus::kCompleted);
  EXPECT_EQ(Sql("select string_agg(n::text, ' ') from (select count(*) as n from job_part "
                "group by block) b"),
            fmt::format("{0} {0} {0}", rounds + 1));
}

// n8n 16133, 7143: runs that wait, or have no time left, cannot be ended.
TEST_F(ApiRuns, ARunEndsByItsDeadline) {
  const std::string workflow = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  const Json records = Json::array({Json{{"n", 1}}});
  const std::string queued = RunRows(workflow, records);
  const std::string running = RunRows(workflow, records);
  const std::string in_time = RunRows(workflow, records);
  Sql("update job set status = 1, started_at = now() where id = '" + running + "'");
  Sql("update job set deadline_at = now() where id <> '" + in_time + "'");
  EXPECT_EQ(store::EndOverdueJobs(session, clock).ended, 2);
  for (const std::string& run : {queued, running}) {
    const Json live = Live(run);
    EXPECT_EQ(live["overall_status"], "failed") << live;
    EXPECT_EQ(live["status_reason"], "deadline_exceeded");
    EXPECT_EQ(live["blocks"][1]["status"], "cancelled");
    EXPECT_TRUE(live["completed_at"].is_string());
    const Reply cancelled = Ask("POST", "/workflows/cancel?job_id=" + run);
    EXPECT_EQ(cancelled.body["status"], "failed") << "an end is final";
    EXPECT_EQ(Sql("select count(*) from job_chunk where job_id = '" + run + "'"), "0");
  }
  EXPECT_EQ(Live(in_time)["overall_status"], "queued");
  const Worker worker(*this);
  EXPECT_EQ(Ended(in_time)["overall_status"], "completed");
}

}  // namespace
}  // namespace vedette::test
