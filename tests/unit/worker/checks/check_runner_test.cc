#include "worker/checks/check_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/support/hand_clock.h"
#include "tests/unit/worker/checks/held_chunks.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {
namespace {

using domain::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;
using vedette::test::HandClock;

ProbeFailure Timeout(std::optional<milliseconds> retry_after = std::nullopt) {
  return {"timeout", "The page took too long.", true, retry_after};
}

// Keeps what it is asked until the test answers.
class WaitingProbe final : public Probe {
 public:
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override {
    asked.push_back({std::move(request), std::move(done)});
  }

  struct Asked {
    ProbeRequest request;
    std::function<void(ProbeResult)> done;
  };
  std::vector<Asked> asked;
};

ProbeResult Price(const char* value) {
  Observation observation;
  observation.fields["price"] = {base::Json(value), {}, {}, std::nullopt};
  return observation;
}

// Ten slots, of which an organisation that is alone has nine.
class CheckRunnerTest : public testing::Test {
 public:
  CheckRunnerTest() {
    const TierProbe tier{"waiting", &probe, seconds(5), seconds(60), 3};
    CheckRunner::Hooks hooks;
    hooks.result = [this](const ChunkPtr& chunk, CheckResult result) {
      holdings.CloseRow(*chunk);
      chunk->parts[result.ref.part].outcomes[result.ref.row] = static_cast<char>(result.outcome);
      results.push_back(std::move(result));
    };
    hooks.dropped = [this](const ChunkPtr& chunk) { dropped.push_back(chunk); };
    hooks.stale = [this] { ++stale; };
    runner = std::make_unique<CheckRunner>(
        loop, clock, metrics, limits, std::map<domain::Tier, TierProbe>{{domain::Tier::kLow, tier}},
        nullptr, holdings, seconds(4), base::Logger(base::LogLevel::kOff, base::LogFormat::kText),
        std::move(hooks));
  }

  ChunkPtr Hold(const ChunkOptions& options) {
    ChunkPtr chunk = NewChunk(options);
    chunk->known_since = clock.SinceBoot();
    holdings.Add(chunk);
    runner->Enqueue(chunk);
    return chunk;
  }

  void GiveBack(const ChunkPtr& chunk) {
    chunk->Enter(HeldChunk::Phase::kGivingBack);
    runner->DropWaiting();
  }

  std::vector<Outcome> Outcomes() const {
    std::vector<Outcome> outcomes;
    for (const CheckResult& result : results) outcomes.push_back(result.outcome);
    return outcomes;
  }

  base::EventLoop loop;
  HandClock clock;
  metrics::Metrics metrics{"test"};
  const RoomLimits limits{.slots_max = 10, .bytes_max = 1'000'000, .newcomer_share = 0.1};
  CheckHoldings holdings;
  WaitingProbe probe;
  std::vector<CheckResult> results;
  std::vector<ChunkPtr> dropped;
  int stale = 0;
  std::unique_ptr<CheckRunner> runner;
};

TEST_F(CheckRunnerTest, G10_StartsNoMoreOfAnOrganisationThanItsShare) {
  Hold({.id = 1, .org = 1, .rows = 20});
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 9U);
  EXPECT_FALSE(runner->RanOut());
  EXPECT_EQ(runner->RowsWaiting(), 11U);
  Hold({.id = 2, .org = 2});
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 10U);
  EXPECT_EQ(probe.asked.back().request.org_id, Id(2));
}

TEST_F(CheckRunnerTest, AChunkThatIsHeldAheadOfItsSlotBeginsWithItAndNotBefore) {
  const ChunkPtr chunk = NewChunk({.ahead = milliseconds(3)});
  chunk->parts[0].starts_from += clock.SinceBoot();
  chunk->known_since = clock.SinceBoot();
  EXPECT_EQ(chunk->parts[0].looked_until, base::Timestamp(milliseconds(3)));
  holdings.Add(chunk);
  runner->Enqueue(chunk);
  runner->Pump();
  EXPECT_TRUE(probe.asked.empty());
  EXPECT_FALSE(runner->RanOut());
  base::Timer look(loop, [this] { loop.Stop(); });
  look.Start(milliseconds(10));
  loop.Run();
  EXPECT_TRUE(probe.asked.empty()) << "by its own clock the slot has not come";
  clock.Pass(milliseconds(3));
  look.Start(milliseconds(0), milliseconds(1));
  while (probe.asked.empty()) loop.Run();
  EXPECT_EQ(probe.asked.front().request.until, base::Timestamp(milliseconds(3)));
}

TEST_F(CheckRunnerTest, EachPartOfAChunkBeginsWithASlotOfItsOwn) {
  const ChunkPtr chunk = NewChunk({.rows = 2, .ahead = milliseconds(0)});
  chunk->claimed.parts.push_back(chunk->claimed.parts[0]);
  chunk->parts.push_back(chunk->parts[0]);
  chunk->row_count = chunk->rows_open = 4;
  for (HeldPart& part : chunk->parts) part.starts_from = clock.SinceBoot();
  chunk->parts[1].starts_from += milliseconds(7);
  chunk->parts[1].looked_until = base::Timestamp(milliseconds(7));
  chunk->known_since = clock.SinceBoot();
  holdings.Add(chunk);
  runner->Enqueue(chunk);
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 2U);
  EXPECT_FALSE(runner->RanOut());
  clock.Pass(milliseconds(7));
  base::Timer look(loop, [this] { loop.Stop(); });
  look.Start(milliseconds(0), milliseconds(1));
  while (probe.asked.size() < 4) loop.Run();
  EXPECT_EQ(probe.asked[1].request.until, base::Timestamp(milliseconds(0)));
  EXPECT_EQ(probe.asked[2].request.until, base::Timestamp(milliseconds(7)));
}

TEST_F(CheckRunnerTest, AChunkThatIsGivenBackAheadOfItsSlotIsForgotten) {
  const ChunkPtr chunk = NewChunk({.ahead = milliseconds(1)});
  chunk->parts[0].starts_from += clock.SinceBoot();
  chunk->known_since = clock.SinceBoot();
  holdings.Add(chunk);
  runner->Enqueue(chunk);
  GiveBack(chunk);
  EXPECT_TRUE(runner->RanOut());
  clock.Pass(milliseconds(1));
  runner->Pump();
  EXPECT_TRUE(probe.asked.empty());
}

TEST_F(CheckRunnerTest, AnAnswerBecomesAResultAndFreesItsSlot) {
  const ChunkPtr chunk = Hold({.rows = 10});
  runner->Pump();
  ASSERT_EQ(probe.asked.size(), 9U);
  probe.asked[4].done(Price("2"));
  EXPECT_EQ(probe.asked.size(), 10U);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].ref.row, 4U);
  EXPECT_EQ(results[0].outcome, Outcome::kChanged);
  EXPECT_EQ(results[0].origin, Origin::kProbed);
  ASSERT_NE(results[0].effects, nullptr);
  EXPECT_EQ(results[0].effects->events.size(), 1U);
  probe.asked[5].done(Price("1"));
  EXPECT_EQ(results[1].outcome, Outcome::kUnchanged);
  EXPECT_EQ(results[1].effects, nullptr) << "most checks write nothing besides their outcome";
  EXPECT_EQ(chunk->in_flight, 8U);
  EXPECT_TRUE(runner->RanOut());
}

// What has been posted to the loop before the answer came runs before the values have been
// compared.
TEST_F(CheckRunnerTest, G10_PatternsOfRulesAreSearchedForBesideTheLoop) {
  const ChunkPtr chunk = Hold({.rows = 2, .rules = R"({"price":{"ignore":["[0-9]+ left"]}})"});
  runner->Pump();
  ASSERT_EQ(probe.asked.size(), 2U);
  std::size_t results_before = 99;
  loop.Post([&] { results_before = results.size(); });
  probe.asked[0].done(Price("1 17 left"));
  probe.asked[1].done(Price("2 17 left"));
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(chunk->in_flight, 2U) << "until its values have been compared";
  base::Timer look(loop, [this] { loop.Stop(); });
  look.Start(milliseconds(0), milliseconds(1));
  while (results.size() < 2) loop.Run();
  EXPECT_EQ(results_before, 0U);
  EXPECT_EQ(Outcomes(), (std::vector{Outcome::kUnchanged, Outcome::kChanged}));
  EXPECT_EQ(chunk->in_flight, 0U);
}

TEST_F(CheckRunnerTest, G5_RowsOfAPausedMonitorAndInactiveRowsAreNotProbed) {
  const ChunkPtr paused = Hold({.id = 1, .monitor = 11, .rows = 2});
  const ChunkPtr live = Hold({.id = 2, .monitor = 12, .rows = 2});
  paused->parts.front().monitor_active = false;
  live->claimed.parts.front().rows[1].is_active = false;
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 1U);
  const auto outcomes = Outcomes();
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), Outcome::kSkippedPaused), 2);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), Outcome::kInactive), 1);
}

TEST_F(CheckRunnerTest, G5_NoCheckStartsOnOldKnowledgeAndAReadIsAskedFor) {
  Hold({.rows = 2});
  clock.Pass(seconds(4));
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 0U);
  EXPECT_EQ(stale, 1);
  ApplyControl({}, clock.SinceBoot(), holdings);
  runner->Pump();
  EXPECT_EQ(probe.asked.size(), 2U);
}

TEST_F(CheckRunnerTest, G5_ACheckThatWaitedForItsTurnIsRefusedWhereItsMonitorWasPausedMeanwhile) {
  const ChunkPtr chunk = Hold({});
  runner->Pump();
  chunk->parts.front().org_runs = false;
  EXPECT_FALSE(probe.asked[0].request.on_turn(seconds(1)));
  probe.asked[0].done(Timeout());
  EXPECT_EQ(Outcomes(), std::vector{Outcome::kSkippedPaused});
  EXPECT_EQ(holdings.InLane().in_flight, 0U);
}

TEST_F(CheckRunnerTest, G5_ACheckThatWaitedForItsTurnIsRefusedWhereItsRowWasSwitchedOffMeanwhile) {
  const ChunkPtr chunk = Hold({});
  runner->Pump();
  chunk->claimed.parts.front().rows.front().is_active = false;
  EXPECT_FALSE(probe.asked[0].request.on_turn(seconds(1)));
  probe.asked[0].done(Timeout());
  EXPECT_EQ(Outcomes(), std::vector{Outcome::kInactive});
  EXPECT_EQ(holdings.InLane().in_flight, 0U);
}

TEST_F(CheckRunnerTest, G5_ACheckWhoseTurnComesWhileNothingIsKnownIsNotMadeAndNotGivenUp) {
  const ChunkPtr chunk = Hold({});
  runner->Pump();
  clock.Pass(seconds(4));
  EXPECT_FALSE(probe.asked[0].request.on_turn(seconds(4)));
  EXPECT_EQ(stale, 1);
  probe.asked[0].done(Timeout());
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(chunk->in_flight, 1U) << "it waits for its next attempt";
}

TEST_F(CheckRunnerTest, OneThatHasBegunIsNotRefusedAnyMoreAndItsWaitsCostItNothing) {
  const ChunkPtr chunk = Hold({});
  runner->Pump();
  EXPECT_TRUE(probe.asked[0].request.on_turn(milliseconds(0)));
  chunk->parts.front().monitor_active = false;
  EXPECT_TRUE(probe.asked[0].request.on_turn(seconds(1)));
  probe.asked[0].done(Price("1"));
  EXPECT_EQ(Outcomes(), std::vector{Outcome::kUnchanged}) << "what is in flight at a pause counts";
}

TEST_F(CheckRunnerTest, ACheckBetweenTwoAttemptsIsDroppedByADrain) {
  const ChunkPtr chunk = Hold({.rows = 12});
  runner->Pump();
  probe.asked[0].done(Timeout());
  EXPECT_TRUE(results.empty());
  GiveBack(chunk);
  EXPECT_EQ(dropped, std::vector{chunk});
  EXPECT_EQ(probe.asked.size(), 9U) << "and no further row is started";
  EXPECT_EQ(chunk->in_flight, 8U);
  probe.asked[1].done(Timeout());
  EXPECT_EQ(Outcomes(), std::vector{Outcome::kFailed}) << "nobody is left to try it again";
  probe.asked[2].done(Price("1"));
  EXPECT_EQ(results.size(), 2U) << "what was in flight is recorded";
}

TEST_F(CheckRunnerTest, ResultsOfAnAbandonedOrLostChunkAreIgnoredAndFreeTheirSlots) {
  const ChunkPtr chunk = Hold({.rows = 2});
  runner->Pump();
  GiveBack(chunk);
  chunk->Enter(HeldChunk::Phase::kAbandoned);
  probe.asked[0].done(Price("2"));
  holdings.Remove(chunk);
  probe.asked[1].done(Price("2"));
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(holdings.InLane().in_flight, 0U);
  EXPECT_EQ(holdings.organisations(), 0U);
}

TEST_F(CheckRunnerTest, ARowThatCannotBeReadFailsWithoutAProbe) {
  const ChunkPtr chunk = NewChunk({});
  chunk->known_since = clock.SinceBoot();
  chunk->claimed.parts.front().rows[0].baseline = "{";
  holdings.Add(chunk);
  runner->Enqueue(chunk);
  runner->Pump();
  EXPECT_TRUE(probe.asked.empty());
  ASSERT_EQ(Outcomes(), std::vector{Outcome::kFailed});
  EXPECT_TRUE(results[0].effects->events[0].message->starts_with("row_unreadable: "));
}

TEST_F(CheckRunnerTest, AValueThatCouldNotBeReadBackIsAFailedCheck) {
  Hold({});
  runner->Pump();
  probe.asked[0].done(Price("a\xff\x62"));
  ASSERT_EQ(Outcomes(), std::vector{Outcome::kFailed});
  EXPECT_TRUE(results[0].effects->events[0].message->starts_with("record_failed: "));
}

TEST_F(CheckRunnerTest, MeasuresHowLongChecksTakeWithTheirWaitsForTurnsExcluded) {
  const ChunkPtr chunk = Hold({.rows = 2});
  runner->Pump();
  clock.Pass(seconds(3));
  EXPECT_TRUE(probe.asked[0].request.on_turn(seconds(3)));
  clock.Pass(seconds(2));
  probe.asked[0].done(Price("1"));
  EXPECT_EQ(chunk->parts.front().CheckMs(), 2000);
}

TEST_F(CheckRunnerTest, NothingReachesARunnerThatIsGone) {
  const ChunkPtr chunk = Hold({});
  runner->Pump();
  runner.reset();
  EXPECT_FALSE(probe.asked[0].request.on_turn(seconds(1)));
  probe.asked[0].done(Price("1"));
  EXPECT_TRUE(results.empty());
}

}  // namespace
}  // namespace vedette::worker
