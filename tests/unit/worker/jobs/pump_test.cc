#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "tests/support/hand_clock.h"
#include "tests/unit/worker/jobs/held_job_chunks.h"
#include "worker/jobs/row_pump.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using vedette::test::HandClock;

RowFailure Down() {
  return {"provider_down", "It did not answer.", true, std::nullopt};
}

config::Config Settings() {
  config::Config settings =
      config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", "postgresql://nowhere/none"}});
  settings.jobs.slots_lookup = 10;
  settings.jobs.slots_research = 10;
  settings.jobs.waited_share = 0.2;
  settings.limits.row_bytes_max = 100;
  settings.jobs.part_bytes_max = 250;
  return settings;
}

class RowPumpTest : public testing::Test {
 public:
  RowPumpTest()
      : pump(loop, clock, metrics, settings, holdings,
             {.ended =
                  [this](const JobChunkPtr& chunk, std::size_t row, RowDone done) {
                    chunk->rows[row].state = JobRow::State::kEnded;
                    chunk->output_bytes += BytesOf(done.cells);
                    holdings.CloseRow(*chunk);
                    ended.push_back(std::move(done));
                  },
              .later =
                  [this](const JobChunkPtr& chunk, std::size_t row, RowLater later) {
                    chunk->rows[row].state = JobRow::State::kLater;
                    laters.push_back(std::move(later));
                  },
              .dropped = [this](const JobChunkPtr&) { ++dropped; },
              .stale = [this] { ++stale; }}) {}

  // The answers that nobody gave hold the chunks, which hold the runner.
  ~RowPumpTest() override { runner->asked.clear(); }

  JobChunkPtr Hold(const JobChunkOptions& options) {
    const JobChunkPtr chunk = NewJobChunk(options, runner);
    chunk->known_since = clock.SinceBoot();
    chunk->deadline += clock.SinceBoot();
    holdings.Add(chunk);
    pump.Enqueue(chunk);
    return chunk;
  }
  void Answer(std::size_t n, RowResult result) { runner->asked.at(n).done(std::move(result)); }
  std::size_t asked() const { return runner->asked.size(); }

  base::EventLoop loop;
  HandClock clock;
  metrics::Metrics metrics{"test"};
  config::Config settings = Settings();
  JobHoldings holdings;
  std::shared_ptr<WaitingRunner> runner = std::make_shared<WaitingRunner>();
  std::vector<RowDone> ended;
  std::vector<RowLater> laters;
  int dropped = 0;
  int stale = 0;
  RowPump pump;
};

TEST_F(RowPumpTest, G10_AnOrganisationThatIsAloneLeavesSlotsForOthersAndForWhoWaits) {
  Hold({.id = 1, .org = 1, .rows = 20});
  pump.Pump();
  EXPECT_EQ(asked(), 8U) << "of ten slots two are for rows that a client waits for";
  Hold({.id = 2, .org = 1, .job = 2, .rank = 0, .waited = true});
  pump.Pump();
  EXPECT_EQ(asked(), 9U);
  EXPECT_EQ(runner->asked.back().request.job_id, Id(2));
}

TEST_F(RowPumpTest, G10_OrganisationsTakeTurnsAndInsideOneItsJobs) {
  Hold({.id = 1, .org = 1, .job = 1, .rows = 4});
  Hold({.id = 2, .org = 1, .job = 2, .rows = 4});
  Hold({.id = 3, .org = 2, .job = 3, .rows = 4});
  pump.Pump();
  std::vector<base::Uuid> first;
  for (std::size_t i = 0; i < 4; ++i) first.push_back(runner->asked[i].request.job_id);
  EXPECT_EQ(first, (std::vector{Id(1), Id(3), Id(2), Id(3)}));
}

TEST_F(RowPumpTest, AFullLaneLeavesAnotherAlone) {
  Hold({.id = 1, .org = 1, .rows = 20});
  pump.Pump();
  const std::size_t before = asked();
  Hold({.id = 2, .org = 1, .job = 2, .rows = 2, .lane = domain::Lane::kResearch});
  pump.Pump();
  EXPECT_EQ(asked(), before + 2);
}

TEST_F(RowPumpTest, ARequestNamesItsRowAndHasTheTimeOfARowButNotMoreThanItsJob) {
  const JobChunkPtr chunk = Hold({.rows = 2});
  pump.Pump();
  EXPECT_EQ(runner->asked[1].request.cells, Cells{"1"});
  EXPECT_EQ(runner->asked[0].request.timeout, settings.lookups.row_timeout_ms);
  EXPECT_TRUE(runner->asked[0].request.may_wait);
  EXPECT_FALSE(runner->asked[0].request.waited);
  EXPECT_NE(runner->asked[0].request.row_id, runner->asked[1].request.row_id);
  const JobChunkPtr short_one = NewJobChunk({.id = 2, .job = 2, .waited = true}, runner);
  short_one->known_since = clock.SinceBoot();
  short_one->deadline = clock.SinceBoot() + seconds(5);
  holdings.Add(short_one);
  pump.Enqueue(short_one);
  pump.Pump();
  EXPECT_EQ(runner->asked[2].request.timeout, seconds(5));
  EXPECT_FALSE(runner->asked[2].request.may_wait);
}

TEST_F(RowPumpTest, G5_NothingStartsOnOldKnowledgeNorAfterTheJobsDeadline) {
  const JobChunkPtr chunk = Hold({.rows = 2});
  clock.Pass(seconds(4));
  pump.Pump();
  EXPECT_EQ(asked(), 0U);
  EXPECT_EQ(stale, 1);
  chunk->known_since = clock.SinceBoot();
  pump.Pump();
  EXPECT_EQ(asked(), 2U);
  const JobChunkPtr late = Hold({.id = 2, .job = 2});
  late->deadline = clock.SinceBoot();
  pump.Pump();
  EXPECT_EQ(asked(), 2U);
}

TEST_F(RowPumpTest, AnEndFreesTheSlotAndGoesToTheHook) {
  Hold({.rows = 20});
  pump.Pump();
  Answer(0, RowDone{{"\"found\""}, 1000, std::nullopt});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].cells, Cells{"\"found\""});
  EXPECT_EQ(asked(), 9U);
}

TEST_F(RowPumpTest, AFailureThatCannotPassEndsTheRowWithItsError) {
  Hold({.rows = 1});
  pump.Pump();
  Answer(0, RowFailure{"refused", "No.", false, std::nullopt});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].error->code, "refused");
  EXPECT_EQ(ended[0].cells, Cells{"0"});
}

// A failover takes longer than a few attempts do, and says nothing of the row.
TEST_F(RowPumpTest, ARowOutlivesItsAttemptsWhereOurDatabaseCouldNotBeAsked) {
  settings.jobs.attempts_max = 1;
  Hold({.rows = 2});
  pump.Pump();
  Answer(0, RowFailure{std::string(kRowDatabase), "It is away.", true, std::nullopt});
  EXPECT_TRUE(ended.empty()) << "it is tried again";
  Answer(1, Down());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].error->code, "provider_down");
}

TEST_F(RowPumpTest, ARowBetweenTwoAttemptsKeepsItsSlotAndLeavesWhenItsChunkDoes) {
  const JobChunkPtr chunk = Hold({.rows = 1});
  pump.Pump();
  Answer(0, Down());
  EXPECT_EQ(holdings.InLane(domain::Lane::kLookup).in_flight, 1U);
  EXPECT_TRUE(ended.empty());
  chunk->Enter(HeldJobChunk::Phase::kGivingBack);
  pump.DropWaiting();
  EXPECT_EQ(holdings.InLane(domain::Lane::kLookup).in_flight, 0U);
  EXPECT_EQ(dropped, 1);
  EXPECT_TRUE(ended.empty());
}

TEST_F(RowPumpTest, WhatIsLargerThanARowOrThanItsPartIsReplaced) {
  Hold({.rows = 4});
  pump.Pump();
  Answer(0, RowDone{{std::string(101, '1')}, 1000, std::nullopt});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].error->code, kRowTooLargeCode);
  EXPECT_EQ(ended[0].charge_mc, std::nullopt);
  EXPECT_EQ(ended[0].cells, Cells{"0"});
  Answer(1, RowDone{{std::string(99, '1')}, std::nullopt, std::nullopt});
  Answer(2, RowDone{{std::string(99, '1')}, std::nullopt, std::nullopt});
  Answer(3, RowDone{{std::string(99, '1')}, std::nullopt, std::nullopt});
  EXPECT_EQ(ended[2].error, std::nullopt);
  ASSERT_NE(ended[3].error, std::nullopt);
  EXPECT_EQ(ended[3].error->code, kRowTooLargeCode);
}

TEST_F(RowPumpTest, ARowIsPutOffOnlyWhereNobodyWaitsAndItsJobHasTheTime) {
  Hold({.id = 1, .job = 1});
  Hold({.id = 2, .job = 2, .waited = true});
  pump.Pump();
  Answer(0, RowLater{minutes(10), "{}"});
  ASSERT_EQ(laters.size(), 1U);
  EXPECT_EQ(laters[0].wait, minutes(10));
  Answer(1, RowLater{minutes(10), "{}"});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].error->code, kRowLateCode);
}

TEST_F(RowPumpTest, ARowThatWouldWaitBeyondItsJobIsAskedOnceMoreAndMayNotWait) {
  const JobChunkPtr chunk = Hold({});
  chunk->deadline = clock.SinceBoot() + minutes(30);
  pump.Pump();
  ASSERT_TRUE(runner->asked[0].request.may_wait);
  Answer(0, RowLater{minutes(40), R"({"tried": 1})"});
  ASSERT_EQ(asked(), 2U);
  EXPECT_FALSE(runner->asked[1].request.may_wait);
  EXPECT_EQ(runner->asked[1].request.memo, R"({"tried": 1})");
  EXPECT_TRUE(laters.empty());
  Answer(1, RowDone{{"1"}, std::nullopt, std::nullopt});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].error, std::nullopt);
}

TEST_F(RowPumpTest, G5_WhatComesBackOfALostChunkIsDropped) {
  const JobChunkPtr chunk = Hold({.rows = 20});
  pump.Pump();
  holdings.Remove(chunk);
  const std::size_t before = asked();
  Answer(0, RowDone{{"1"}, 1000, std::nullopt});
  EXPECT_TRUE(ended.empty());
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(asked(), before);
}

TEST_F(RowPumpTest, G5_ARowInFlightMakesNoCallOnOldKnowledgeNorForAChunkThatIsLost) {
  const JobChunkPtr chunk = Hold({.rows = 2});
  pump.Pump();
  const auto& may_call = runner->asked[0].request.may_call;
  EXPECT_TRUE(may_call());
  clock.Pass(seconds(4));
  EXPECT_FALSE(may_call());
  chunk->known_since = clock.SinceBoot();
  EXPECT_TRUE(may_call());
  chunk->Enter(HeldJobChunk::Phase::kGivingBack);
  clock.Pass(seconds(4));
  EXPECT_TRUE(may_call()) << "what is in flight at a lock is recorded";
  holdings.Remove(chunk);
  EXPECT_FALSE(may_call());
}

TEST_F(RowPumpTest, AnAttemptThatWasBrokenOffKeepsItsSlotAndAsksForALook) {
  const JobChunkPtr chunk = Hold({.rows = 1});
  pump.Pump();
  Answer(0, RowFailure{std::string(kRowUnheld), "", true, std::nullopt});
  EXPECT_EQ(stale, 1);
  EXPECT_EQ(holdings.InLane(domain::Lane::kLookup).in_flight, 1U);
  EXPECT_TRUE(ended.empty());
}

TEST_F(RowPumpTest, ARunnerThatAnswersAtOnceEndsAllRowsInOneCall) {
  class AtOnce final : public RowRunner {
   public:
    void Start(RowRequest request, std::function<void(RowResult)> done) override {
      done(RowDone{std::move(request.cells), std::nullopt, std::nullopt});
    }
    RowDone EndWith(const Cells& cells, RowError error) const override {
      return {cells, std::nullopt, std::move(error)};
    }
  };
  const JobChunkPtr chunk = NewJobChunk({.rows = 100}, std::make_shared<AtOnce>());
  chunk->known_since = clock.SinceBoot();
  chunk->deadline += clock.SinceBoot();
  holdings.Add(chunk);
  pump.Enqueue(chunk);
  pump.Pump();
  EXPECT_EQ(ended.size(), 100U);
  EXPECT_TRUE(chunk->Finished());
}

}  // namespace
}  // namespace vedette::worker
