// The path of a check through the database: cut, claim, admit, record, close.

#include <fmt/format.h>

#include <functional>
#include <pqxx/pqxx>

#include "store/checks/chunks.h"
#include "store/monitors/control.h"
#include "store/monitors/monitors.h"
#include "store/session_impl.h"
#include "tests/store/support/outcome_words.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using domain::Outcome;

TEST_F(PipelineTest, G1_G7_ATickOfThreeRowsIsCutCheckedRecordedOnceAndClosed) {
  const auto monitor = NewMonitor({.rows = 3});
  const auto cut = Cut();
  EXPECT_EQ(cut.scheduled_ticks, 1);
  EXPECT_EQ(cut.chunks, 1);
  const auto claim = ClaimAll();
  ASSERT_EQ(claim.chunks.size(), 1U);
  ASSERT_EQ(claim.chunks[0].parts.size(), 1U);
  EXPECT_EQ(claim.chunks[0].parts[0].rows.size(), 3U);
  EXPECT_EQ(Sql("select reserved_mc from chunk"), "3000");
  ExpectMoneyAddsUp();

  auto records = FinishAll(claim, Outcome::kUnchanged);
  records[0].ranges[0].outcomes[1] = static_cast<char>(Outcome::kFailed);
  records[0].parts[0].outcomes[1] = static_cast<char>(Outcome::kFailed);
  records[0].completed = 2;
  EXPECT_TRUE(Record(records).dropped.empty());

  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "unchanged, failed, unchanged");
  EXPECT_EQ(Sql("select count(*) from tick where finished_at is not null"), "1");
  EXPECT_EQ(Sql("select slots from tick"), "1");
  EXPECT_EQ(Sql("select count(*) from chunk"), "0");
  EXPECT_EQ(Sql("select tick_id from open_tick"), "");
  EXPECT_EQ(Sql("select balance_mc from account"), "998000");
  EXPECT_EQ(Sql("select string_agg((last_run_at is not null)::text, ',' order by position) "
                "from row_state"),
            "true,false,true")
      << "G6: only completed checks move last_run_at";
  ExpectMoneyAddsUp();
  EXPECT_EQ(Sql(fmt::format("select next_run_at > now() from monitor_sched where monitor_id = '{}'",
                            monitor.ToString())),
            "t");
}

TEST_F(PipelineTest, G1_ResultsOfALostLeaseAreDropped) {
  NewMonitor({.rows = 2});
  Cut();
  const auto zombie = ClaimAll();
  Sql("update chunk set available_at = now() - interval '1 s'");
  const auto heir = ClaimAll();
  ASSERT_EQ(heir.chunks.size(), 1U);
  EXPECT_EQ(heir.chunks[0].claims, 2);
  EXPECT_EQ(Sql("select reserved_mc from chunk"), "2000") << "the reservation is adopted";

  EXPECT_EQ(Record(FinishAll(zombie, Outcome::kChanged)).dropped.size(), 1U);
  EXPECT_EQ(Sql("select max(last_tick_id) from row_state"), "0");
  EXPECT_EQ(Sql("select count(*) from credit_entry where checks is not null"), "0");

  EXPECT_TRUE(Record(FinishAll(heir, Outcome::kUnchanged)).dropped.empty());
  EXPECT_EQ(Record(FinishAll(heir, Outcome::kUnchanged)).dropped.size(), 1U)
      << "a record repeated after a lost COMMIT changes nothing";
  EXPECT_EQ(Sql("select balance_mc from account"), "998000");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G1_G4_PartialRecordsAreKeptWhenTheChunkChangesHands) {
  NewMonitor({.rows = 3});
  Cut();
  const auto first = ClaimAll();
  auto partial = FinishAll(first, Outcome::kChanged);
  partial[0].finished = false;
  partial[0].completed = 1;
  partial[0].ranges[0].outcomes = std::string(1, static_cast<char>(Outcome::kChanged));
  Record(partial);
  EXPECT_EQ(Sql("select reserved_mc from chunk"), "2000");
  store::ReleaseChunks(session, {partial[0].lease});
  EXPECT_EQ(Sql("select lease_token from chunk"), "");

  const auto second = ClaimAll();
  ASSERT_EQ(second.chunks.size(), 1U);
  EXPECT_EQ(second.chunks[0].claims, 1) << "giving back is no claim, and progress resets the count";
  EXPECT_EQ(second.chunks[0].parts[0].rows[0].done, Outcome::kChanged);
  EXPECT_FALSE(second.chunks[0].parts[0].rows[1].done.has_value());
  Record(FinishAll(second, Outcome::kUnchanged));
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "changed, 2 unchanged");
  EXPECT_EQ(Sql("select balance_mc from account"), "997000");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G4_AnExhaustedBalancePaysTheFirstRowsAndSkipsTheRest) {
  Sql("update account set balance_mc = 2500; "
      "update credit_entry set amount_mc = 2500");
  NewMonitor({.rows = 5});
  Cut();
  const auto claim = ClaimAll();
  const auto& decided = claim.chunks[0].parts[0].decided;
  EXPECT_FALSE(decided[0] || decided[1]);
  EXPECT_EQ(decided[2], Outcome::kSkippedBalance);
  EXPECT_EQ(decided[4], Outcome::kSkippedBalance);
  EXPECT_EQ(Sql("select balance_mc from account"), "500");
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "2 unchanged, 3 skipped_balance");
  EXPECT_EQ(Sql("select balance_mc from account"), "500");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, TheTeamsSpendLimitHoldsForTheMonthAndFailedChecksGiveBack) {
  const auto team = NewTeam(2000);
  NewMonitor({.rows = 4, .team = team});
  Cut();
  const auto claim = ClaimAll();
  EXPECT_EQ(claim.chunks[0].parts[0].decided[2], Outcome::kSkippedSpendLimit);
  EXPECT_EQ(Sql("select spent_mc from team_spend"), "2000");
  Record(FinishAll(claim, Outcome::kFailed));
  EXPECT_EQ(Sql("select spent_mc from team_spend"), "0") << "a failed check costs nothing";
  EXPECT_EQ(Sql("select balance_mc from account"), "1000000");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G4_TwoChunksOfOneClaimShareOneBalance) {
  Sql("update account set balance_mc = 300000; update credit_entry set amount_mc = 300000");
  NewMonitor({.rows = 200});
  NewMonitor({.rows = 200});
  Cut();
  const auto claim = ClaimAll();
  ASSERT_EQ(claim.chunks.size(), 2U);
  EXPECT_EQ(Sql("select balance_mc from account"), "0");
  EXPECT_EQ(Sql("select sum(reserved_mc) from chunk"), "300000");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, SmallMonitorsThatComeDueTogetherShareAChunk) {
  for (int i = 0; i < 5; ++i) NewMonitor({.rows = 1});
  EXPECT_EQ(Cut().chunks, 1);
  const auto claim = ClaimAll();
  EXPECT_EQ(claim.chunks[0].parts.size(), 5U);
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from tick where outcomes = '\\x02'"), "5");
}

// A part of one row may also be the end of a large tick.
TEST_F(PipelineTest, AClaimReadsPartsOfOneRowInOneStatementAndWiderOnesBesideThem) {
  const auto statements = [this](const char* query) {
    return Series(fmt::format("vedette_db_query_seconds_count{{query=\"{}\"}}", query));
  };
  NewMonitor({.rows = 1});
  NewMonitor({.rows = 1});
  Cut();
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(statements("held_row_parts"), 1);
  EXPECT_EQ(statements("one_row_parts") + statements("monitor_specs") + statements("rows_of_parts"),
            0);

  NewMonitor({.rows = 1});
  NewMonitor({.rows = 3});
  NewMonitor({.rows = 257});
  Cut();
  const auto claim = ClaimAll();
  EXPECT_EQ(statements("held_row_parts"), 2);
  EXPECT_EQ(statements("one_row_parts"), 1);
  EXPECT_EQ(statements("rows_of_parts"), 1);
  std::size_t rows = 0;
  for (const auto& chunk : claim.chunks) {
    for (const auto& part : chunk.parts) {
      EXPECT_TRUE(claim.specs.contains(part.part.monitor_id));
      EXPECT_TRUE(claim.watched.contains(part.part.monitor_id));
      for (std::size_t i = 0; i < part.rows.size(); ++i, ++rows) {
        if (part.rows.size() > 3 && i > 0) continue;
        EXPECT_EQ(part.rows[i].row_id.ToString(),
                  Sql(fmt::format("select id from monitor_row where monitor_id = '{}' and "
                                  "position = {}",
                                  part.part.monitor_id.ToString(),
                                  part.part.first + static_cast<int>(i))));
        EXPECT_FALSE(part.rows[i].subject.empty());
      }
    }
  }
  EXPECT_EQ(rows, 261U);
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from row_state where outcome = 2 and last_run_at is not null"),
            "263");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G5_AClaimGoesByWhetherItsOrganisationLetsMonitorsRun) {
  NewMonitor({.rows = 1});
  NewMonitor({.rows = 2});
  Cut();
  Sql("update organisation set features = '{}'");
  const auto claim = ClaimAll();
  for (const auto& chunk : claim.chunks) {
    for (const auto& part : chunk.parts) EXPECT_EQ(part.decided[0], Outcome::kSkippedPaused);
  }
  EXPECT_EQ(Sql("select sum(reserved_mc) from chunk"), "0");
}

TEST_F(PipelineTest, G7_ALargeTickIsLoggedByBlockAndClosedWhenItsLastChunkIsRecorded) {
  NewMonitor({.rows = 600});
  EXPECT_EQ(Cut().chunks, 3);
  const auto claim = ClaimAll(2);
  ASSERT_EQ(claim.chunks.size(), 2U);
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 0) << "a chunk is left";
  Record(FinishAll(ClaimAll(), Outcome::kChanged));
  EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  EXPECT_EQ(Sql("select count(*) from check_log"), "3");
  EXPECT_EQ(Sql("select counts::text from tick"), "{0,88,512,0,0,0,0,0,0}");
  EXPECT_EQ(Sql("select tick_id from open_tick"), "");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G7_ATickThatAChunkHoldsWritesItsScheduleOnceAndIsOpenUntilItIsRecorded) {
  NewMonitor({.rows = 2, .due = "date_trunc('second', now()) - interval '2 hours 10 minutes'"});
  Cut();
  const auto version = [this] {
    return Sql("select xmin || ' ' || ctid::text from monitor_sched");
  };
  const std::string cut = version();
  EXPECT_EQ(Sql("select open_tick_id is null and open_due_at is null from monitor_sched"), "t");
  EXPECT_EQ(Sql("select o.tick_id = s.last_tick_id and o.trigger = 0 and o.slots = 3 and "
                "o.due_at = s.anchor_at and o.started_at = s.last_run_at and "
                "o.row_count = 2 and not o.is_large from open_tick o join monitor_sched s using "
                "(monitor_id)"),
            "t");
  const auto claim = ClaimAll();
  EXPECT_EQ(claim.specs.begin()->second->frequency, std::chrono::hours(1));
  EXPECT_FALSE(claim.specs.begin()->second->open_tick_id);
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(version(), cut);
  EXPECT_EQ(Sql("select count(*) from open_tick"), "0");
  EXPECT_EQ(Sql("select t.tick_id = s.last_tick_id and t.trigger = 0 and t.slots = 3 and "
                "t.due_at = s.anchor_at and t.started_at = s.last_run_at and "
                "t.row_count = 2 from tick t join monitor_sched s using (monitor_id)"),
            "t");
}

TEST_F(PipelineTest, TheEndOfAHeldTickSaysWhenItsMonitorBeginsToFailAndWhenItWorksAgain) {
  NewMonitor({});
  const auto tick = [this](Outcome outcome) {
    Sql("update monitor_sched set next_run_at = now() returning 1");
    Cut();
    return Record(FinishAll(ClaimAll(), outcome)).changes;
  };
  const auto since = [this] { return Sql("select failing_since from monitor_sched"); };
  EXPECT_TRUE(tick(Outcome::kUnchanged).empty());
  EXPECT_EQ(since(), "");
  const auto began = tick(Outcome::kFailed);
  ASSERT_EQ(began.size(), 1U);
  EXPECT_TRUE(began[0].fails);
  EXPECT_EQ(Sql("select failing_since = last_run_at from monitor_sched"), "t");
  const std::string first = since();
  EXPECT_TRUE(tick(Outcome::kFailed).empty());
  EXPECT_EQ(since(), first);
  const auto works = tick(Outcome::kChanged);
  ASSERT_EQ(works.size(), 1U);
  EXPECT_FALSE(works[0].fails);
  EXPECT_EQ(since(), "");
}

TEST_F(PipelineTest, ATriggerJoinsTheTickThatAChunkHolds) {
  const auto monitor = NewMonitor({.rows = 3});
  Cut();
  const auto trigger = [&] {
    return store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  };
  const auto joined = trigger();
  EXPECT_TRUE(joined.joined);
  EXPECT_EQ(std::to_string(joined.tick_id), Sql("select tick_id from open_tick"));
  EXPECT_EQ(joined.rows, 3);
  EXPECT_EQ(Sql("select count(*) from chunk"), "1");
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_FALSE(trigger().joined);
  EXPECT_EQ(Sql("select trigger from open_tick"), "1");
}

// What a process of the version before does with a chunk, in its own words.
TEST_F(PipelineTest, G7_AWorkerOfTheVersionBeforeFindsTheTicksOfAChunkOpenByTheirSchedules) {
  NewMonitor({.rows = 2});
  NewMonitor({.rows = 1});
  Cut();
  const std::string open = "select string_agg(o::text, ',' order by monitor_id) from open_tick o";
  const std::string held = Sql(open);
  Sql("update chunk set available_at = now() - interval '1 second', lease_token = "
      "gen_random_uuid(), claims = claims + 1");
  EXPECT_EQ(Sql(open), held);
  EXPECT_EQ(Sql("select count(*) from monitor_sched s join chunk c on s.open_tick_id = any "
                "(c.tick_ids) where s.open_started_at = s.last_run_at and s.open_slots = 1 and "
                "s.open_rows = s.row_count and s.open_due_at = s.anchor_at"),
            "2");
  // Its lease ends, and one of this version goes on.
  const auto claim = ClaimAll();
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_TRUE(claim.specs.begin()->second->open_tick_id);
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from open_tick"), "0");
  EXPECT_EQ(Sql("select count(*) from monitor_sched where open_tick_id is null"), "2");
  EXPECT_EQ(Sql("select count(*) from tick t join monitor_sched s using (monitor_id) "
                "where t.due_at = s.anchor_at and t.slots = 1"),
            "2");
}

TEST_F(PipelineTest, G7_ASchedulerOfTheVersionBeforeOpensNoSecondTickBesideOneThatAChunkHolds) {
  NewMonitor({.rows = 2});
  Cut();
  const std::string second =
      "insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
      "due_at, row_count) select gen_random_uuid(), org_id, tier, now(), array[monitor_id], "
      "array[last_tick_id + 1], '{0}', '{2}', now(), 2 from monitor_sched";
  EXPECT_THROW(Sql(second), pqxx::serialization_failure);
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  Sql(second);
  EXPECT_EQ(Sql("select count(*) from chunk"), "1");
}

TEST_F(PipelineTest, ADueMonitorWhoseTickIsOpenGetsATickThatIsSkippedOverlap) {
  NewMonitor({.rows = 2});
  Cut();
  Sql("update monitor_sched set next_run_at = now()");
  const auto cut = Cut();
  EXPECT_EQ(cut.overlap_ticks, 1);
  EXPECT_EQ(cut.chunks, 0);
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "2 skipped_overlap");
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from tick where finished_at is not null"), "2");
}

TEST_F(PipelineTest, ADueLargeMonitorWhoseTickIsOpenAccountsForEveryRow) {
  NewMonitor({.rows = 300});
  Cut();
  Sql("update monitor_sched set next_run_at = now()");
  Cut();
  EXPECT_EQ(Sql("select counts::text from tick where finished_at is not null"),
            "{0,0,0,0,0,0,0,300,0}");
}

TEST_F(PipelineTest, MissedSlotsCollapseIntoOneTickAnchoredWithoutDrift) {
  NewMonitor({.rows = 1, .due = "date_trunc('second', now()) - interval '3 hours 10 minutes'"});
  EXPECT_EQ(Cut().scheduled_ticks, 1);
  EXPECT_EQ(Sql("select slots from open_tick"), "4");
  EXPECT_EQ(Sql("select next_run_at = anchor_at + interval '4 hours' from monitor_sched"), "t");
}

// A check begins with its slot: what stands before it is done ahead.
TEST_F(PipelineTest, G7_ATickIsCutAndClaimedAheadOfItsSlotAndSaysThatItBeginsWithIt) {
  NewMonitor({.due = "now() + interval '1 hour'"});
  EXPECT_EQ(Cut().scheduled_ticks, 0);
  store::Claim claim;
  // The machine may stand still for longer than ticks are cut ahead.
  Until("a tick to be cut ahead", [&] {
    Sql("update monitor_sched set next_run_at = clock_timestamp() + interval '15 ms' returning 1");
    EXPECT_EQ(Cut().scheduled_ticks, 1);
    claim = ClaimAll();
    EXPECT_GE(claim.chunks.at(0).starts_at, claim.chunks.at(0).due_at);
    if (claim.now < claim.chunks.at(0).starts_at) return true;
    Record(FinishAll(claim, Outcome::kUnchanged));
    return false;
  });
  EXPECT_EQ(Sql("select started_at = due_at from open_tick"), "t");
  EXPECT_EQ(Sql("select last_run_at < next_run_at from monitor_sched"), "t");
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Sql("select slots || ' ' || (started_at = due_at)::text from tick "
                "order by tick_id desc limit 1"),
            "1 true");
}

TEST_F(PipelineTest, G7_TicksThatAreCutTogetherBeginEachWithItsSlot) {
  for (int i = 0; i < 3; ++i) NewMonitor({.due = "now() + interval '1 hour'"});
  store::Claim claim;
  Until("ticks to be cut ahead", [&] {
    Sql("update monitor_sched s set next_run_at = now() + u.n * interval '6 ms' from "
        "(select monitor_id, row_number() over () as n from monitor_sched) u "
        "where u.monitor_id = s.monitor_id returning 1");
    Cut();
    claim = ClaimAll();
    const bool together = claim.chunks.size() == 1 && claim.chunks[0].parts.size() == 3;
    if (together && claim.now < claim.chunks[0].starts_at) return true;
    Record(FinishAll(claim, Outcome::kUnchanged));
    return false;
  });
  const store::ClaimedChunk& chunk = claim.chunks[0];
  EXPECT_EQ(chunk.starts_at, chunk.due_at);
  EXPECT_EQ(chunk.parts[0].starts_at, chunk.starts_at);
  EXPECT_EQ(chunk.parts[1].starts_at - chunk.starts_at, std::chrono::milliseconds(6));
  EXPECT_EQ(chunk.parts[2].starts_at - chunk.starts_at, std::chrono::milliseconds(12));
  const std::string begun = "select count(*) from open_tick where started_at = due_at";
  EXPECT_EQ(Sql(begun), "3");
  EXPECT_EQ(Sql("select count(distinct last_run_at) from monitor_sched s join open_tick t using "
                "(monitor_id) where s.last_run_at = t.started_at"),
            "3");
  ASSERT_TRUE(store::SplitChunk(session, clock, {chunk.id, chunk.lease_token}));
  EXPECT_EQ(Sql(begun), "3") << "also where the chunk was cut in two";
  claim = ClaimAll();
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from tick where started_at = due_at and tick_id in "
                "(select last_tick_id from monitor_sched)"),
            "3");
}

TEST_F(PipelineTest, G7_ATickThatIsLateStandsForASlotThatIsNearAndBeginsWithIt) {
  NewMonitor({.due = "now() - interval '2 hours' + interval '15 ms'"});
  EXPECT_EQ(Cut().scheduled_ticks, 1);
  EXPECT_EQ(Sql("select slots from open_tick"), "3");
  EXPECT_EQ(Sql("select started_at >= due_at + interval '2 hours' from open_tick"), "t");
  EXPECT_EQ(Sql("select next_run_at - anchor_at from monitor_sched"), "03:00:00");
  const auto chunk = ClaimAll().chunks.at(0);
  EXPECT_GE(chunk.starts_at, chunk.due_at + std::chrono::hours(2));
}

TEST_F(PipelineTest, ALargeTickIsCutAheadOfItsSlotLikewise) {
  NewMonitor({.rows = 300, .due = "now() + interval '1 hour'"});
  Until("a tick to be cut ahead", [&] {
    Sql("update monitor_sched set next_run_at = clock_timestamp() + interval '15 ms' returning 1");
    EXPECT_EQ(Cut().chunks, 2);
    const auto claim = ClaimAll();
    const bool ahead = claim.now < claim.chunks.at(0).starts_at;
    Record(FinishAll(claim, Outcome::kUnchanged));
    EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 1);
    return ahead;
  });
  EXPECT_EQ(Sql("select started_at = due_at from tick order by tick_id desc limit 1"), "t");
}

TEST_F(PipelineTest, BigTicksAfterTheFirstAreCutPortionByPortionOverTheirPeriod) {
  NewMonitor({.rows = 12000, .due = "now() - interval '1 hour'"});
  Sql("update monitor_sched set anchor_at = anchor_at - interval '1 hour'");
  EXPECT_EQ(Cut().chunks, 0);
  EXPECT_EQ(store::MaterialisePortions(session, clock, limits).chunks, 1);
  EXPECT_EQ(Sql("select portion_position from monitor_sched"), "256");
  EXPECT_EQ(store::MaterialisePortions(session, clock, limits).chunks, 0)
      << "the next is not due yet";
  // 256 of 12,000 rows over a tenth of an hour.
  EXPECT_EQ(Sql("select round(extract(epoch from portion_at - open_started_at)::numeric, 2) "
                "from monitor_sched"),
            "7.68");
}

TEST_F(PipelineTest, ABigTickKeepsItsPaceWhereTheFrequencyIsChangedMeanwhile) {
  NewMonitor({.rows = 12000, .due = "now() - interval '1 hour'"});
  Sql("update monitor_sched set anchor_at = anchor_at - interval '1 hour'");
  Cut();
  EXPECT_EQ(store::MaterialisePortions(session, clock, limits).chunks, 1);
  for (const char* position : {"512", "768"}) {
    Sql("update monitor_sched set frequency_s = frequency_s * 100, portion_at = portion_at - "
        "interval '8 s', open_started_at = open_started_at - interval '8 s', open_due_at = "
        "open_due_at - interval '8 s'");
    EXPECT_EQ(store::MaterialisePortions(session, clock, limits).chunks, 1);
    EXPECT_EQ(Sql("select portion_position from monitor_sched"), position);
  }
  EXPECT_EQ(Sql("select round(extract(epoch from portion_at - open_started_at)::numeric, 2) "
                "from monitor_sched"),
            "23.04");
}

TEST_F(PipelineTest, TheFirstTickOfABigMonitorIsCutAtOnce) {
  NewMonitor({.rows = 12000, .due = "now()"});
  EXPECT_EQ(Cut().chunks, 0);
  std::int64_t chunks = 0;
  while (Sql("select portion_at from monitor_sched") != "") {
    chunks += store::MaterialisePortions(session, clock, limits).chunks;
  }
  EXPECT_EQ(chunks, 47);
  EXPECT_EQ(Sql("select sum(row_count) from chunk"), "12000");
}

TEST_F(PipelineTest, ATriggerOpensATickOutsideTheScheduleAndASecondOneJoinsIt) {
  const auto monitor = NewMonitor({.rows = 2, .due = "now() + interval '1 hour'"});
  const auto next = Sql("select next_run_at from monitor_sched");
  const auto first = store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  EXPECT_EQ(first.kind, store::TriggerOutcome::Kind::kDone);
  EXPECT_FALSE(first.joined);
  EXPECT_EQ(first.rows, 2);
  const auto second = store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  EXPECT_TRUE(second.joined);
  EXPECT_EQ(second.tick_id, first.tick_id);
  EXPECT_EQ(Sql("select next_run_at from monitor_sched"), next);
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select trigger || ' ' || slots from tick"), "1 0");
}

// What stands between a trigger and its check, and before a slot's: messages to the database that
// are waited for. The other parts are threads that wake each other.
TEST_F(PipelineTest, SevenRoundTripsStandBehindATriggerAndEightAheadOfASlot) {
  const auto monitor = NewMonitor({.due = "now() + interval '1 hour'"});
  const auto trips = [this](const std::function<void()>& step) {
    const auto before = session.impl().round_trips;
    step();
    return session.impl().round_trips - before;
  };
  const store::AuditEntry audit{.actor = "test", .action = "monitor.trigger"};
  const auto trigger = [&] {
    EXPECT_EQ(store::TriggerMonitor(session, clock, {}, monitor, limits, audit).raise,
              store::Signal::kChunk);
  };
  const auto cut = [&] { EXPECT_EQ(Cut().chunks, 1); };
  const auto scan = [&] { EXPECT_EQ(store::ScanDueOrganisations(session, {}, 9).due.size(), 1U); };
  store::Claim claim;
  const auto take = [&] {
    claim =
        store::ClaimChunks(session, {{org, 9, 9}}, base::Uuid::V4(), lease, prices, kCarefulFrom);
    EXPECT_EQ(claim.chunks.size(), 1U);
  };
  EXPECT_EQ(trips(trigger), 2) << "BEGIN and the lock; audit, tick, chunk and COMMIT";
  EXPECT_EQ(trips(scan), 1);
  EXPECT_EQ(trips(take), 4) << "BEGIN and chunks; rows; the lock; balance, chunks and COMMIT";
  Record(FinishAll(claim, Outcome::kUnchanged));
  Sql("update monitor_sched set next_run_at = now() returning 1");
  EXPECT_EQ(trips(cut), 3)
      << "BEGIN and the schedule; open ticks and turns; chunks, ticks and COMMIT";
  EXPECT_EQ(trips(scan), 1);
  EXPECT_EQ(trips(take), 4);
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, ATriggerThatOneChunkHoldsIsTwoStatementsAndNeedsNoScheduler) {
  const auto monitor = NewMonitor({.rows = 256, .due = "now() + interval '1 hour'"});
  const auto statements = [this] {
    double count = 0;
    for (const char* query : {"trigger_lock", "tick_open_small", "monitor_lock", "sched_lock",
                              "sched_open_ticks", "chunk_turns", "chunk_insert"}) {
      count += Series(fmt::format("vedette_db_query_seconds_count{{query=\"{}\"}}", query));
    }
    return count;
  };
  const double before = statements();
  const auto outcome = store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  EXPECT_EQ(statements() - before, 2);
  EXPECT_EQ(outcome.raise, store::Signal::kChunk);
  EXPECT_EQ(Sql("select (open_tick_id = last_tick_id and open_due_at = last_run_at and "
                "open_started_at = last_run_at) || ' ' || open_slots || ' ' || open_rows || ' ' || "
                "open_trigger || ' ' || open_large || ' ' || (portion_at is null) from "
                "monitor_sched"),
            "true 0 256 1 false true");
  EXPECT_EQ(Sql("select (c.tick_ids[1] = s.open_tick_id and c.due_at = s.open_due_at and "
                "c.monitor_ids[1] = s.monitor_id and c.org_id = s.org_id and c.tier = s.tier) || "
                "' ' || c.firsts[1] || ' ' || c.ends[1] || ' ' || c.row_count || ' ' || "
                "(c.monitor_id is null) || ' ' || (c.available_at < now() - interval '1 day') "
                "from chunk c, monitor_sched s"),
            "true 0 256 256 true true");
  const auto joined = store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  EXPECT_TRUE(joined.joined);
  EXPECT_FALSE(joined.raise.has_value()) << "its chunk has been announced";
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select row_count || ' ' || trigger || ' ' || length(outcomes) from tick"),
            "256 1 256");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, G12_ATriggerIsConfirmedOnceItIsOnDiskAndNeverByAConnectionMadeLater) {
  const auto monitor = NewMonitor({.rows = 1, .due = "now() + interval '1 hour'"});
  const auto trigger = [&] {
    return store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt);
  };
  const auto first = trigger();
  const auto written = Sql("select pg_current_wal_insert_lsn()");
  store::ConfirmTrigger(session);
  EXPECT_EQ(Sql("select pg_current_wal_flush_lsn() >= '" + written + "'"), "t");
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  trigger();
  TestDatabase::CrashServer();
  TestDatabase::StartServer();
  EXPECT_THROW(store::ConfirmTrigger(session), store::CommitUnknown)
      << "the database may have forgotten the trigger";
  EXPECT_THROW(store::ConfirmTrigger(session), store::CommitUnknown);
  EXPECT_EQ(Sql("select count(*) from tick where tick_id = " + std::to_string(first.tick_id)), "1")
      << "what was confirmed is there";
  const auto again = trigger();  // joins the one before where that survived
  store::ConfirmTrigger(session);
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from tick where finished_at is not null"), "2");
  EXPECT_EQ(Sql("select max(tick_id) from tick"), std::to_string(again.tick_id));
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, ATriggerOfMoreRowsThanOneChunkHoldsIsCutAsTheScheduleIs) {
  const auto large = NewMonitor({.rows = 600, .due = "now() + interval '1 hour'"});
  auto outcome = store::TriggerMonitor(session, clock, {}, large, limits, std::nullopt);
  EXPECT_EQ(outcome.raise, store::Signal::kChunk);
  EXPECT_EQ(Sql("select count(*) || ' ' || sum(row_count) from chunk"), "3 600");
  const auto huge = NewMonitor({.rows = 5000, .due = "now() + interval '1 hour'"});
  outcome = store::TriggerMonitor(session, clock, {}, huge, limits, std::nullopt);
  EXPECT_EQ(outcome.raise, store::Signal::kDue) << "the scheduler cuts it portion by portion";
  EXPECT_EQ(Sql("select count(*) from chunk"), "3");
}

// A COMMIT waits for a synchronous standby, or for a disk, as long as it takes.
TEST_F(PipelineTest, G5_APauseWhoseCommitTakesLongIsSeen) {
  const auto monitor = NewMonitor({.frequency_s = "3600"});
  Sql("update monitor set control_changed_at = now() - interval '1 day'");
  const auto read = [&](std::optional<base::Timestamp> since) {
    return store::ReadControlChanges(session, std::chrono::milliseconds(0), since);
  };
  pqxx::connection pausing{database.url()};
  base::Timestamp until{};
  {
    pqxx::work work{pausing};
    work.exec("set local application_name = 'vedette api'");
    work.exec("update monitor set status = 3, control_changed_at = now()");
    until = read(clock.Now()).complete_until;
    EXPECT_TRUE(read(until).monitors.empty());
    until = read(until).complete_until;
    EXPECT_LT(until, clock.Now());
    work.commit();
  }
  const auto changes = read(until);
  ASSERT_EQ(changes.monitors.size(), 1U);
  EXPECT_EQ(changes.monitors[0], std::pair(monitor, false));
  EXPECT_TRUE(read(changes.complete_until).monitors.empty());
}

TEST_F(PipelineTest, G5_RowsOfAPausedMonitorComeBackAsSkippedAndNothingIsReserved) {
  const auto monitor = NewMonitor({.rows = 2});
  Cut();
  const auto paused = store::PauseMonitor(session, clock, {}, monitor, "why", std::nullopt);
  EXPECT_EQ(paused.status, domain::MonitorStatus::kPaused);
  const auto claim = ClaimAll();
  EXPECT_EQ(claim.chunks[0].parts[0].decided[0], Outcome::kSkippedPaused);
  EXPECT_EQ(Sql("select sum(reserved_mc) from chunk"), "0");
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "2 skipped_paused");
  EXPECT_EQ(store::TriggerMonitor(session, clock, {}, monitor, limits, std::nullopt).kind,
            store::TriggerOutcome::Kind::kConflict);
}

TEST_F(PipelineTest, AResumeTakesTheNextAnchoredSlotAndOpensNoTick) {
  const auto monitor = NewMonitor({.rows = 1, .due = "now() - interval '90 minutes'"});
  store::PauseMonitor(session, clock, {}, monitor, "why", std::nullopt);
  EXPECT_EQ(Cut().scheduled_ticks, 0);
  store::ResumeMonitor(session, clock, {}, monitor, std::nullopt);
  EXPECT_EQ(Cut().scheduled_ticks, 0);
  EXPECT_EQ(Sql("select next_run_at = anchor_at + interval '2 hours' from monitor_sched"), "t");
  EXPECT_EQ(Sql("select disabled_reason from monitor"), "");
}

// The slot came due, and the pause was there before the scheduler.
TEST_F(PipelineTest, G7_ASlotThatWasDueBeforeThePauseIsAccountedFor) {
  const auto monitor =
      NewMonitor({.rows = 2, .frequency_s = "60", .due = "now() - interval '150 s'"});
  ASSERT_EQ(store::PauseMonitor(session, clock, {}, monitor, "a test", std::nullopt).kind,
            store::ControlOutcome::Kind::kDone);
  EXPECT_EQ(Sql("select slots || ' ' || (finished_at is not null) from tick"), "3 true");
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "2 skipped_paused");
  store::PauseMonitor(session, clock, {}, monitor, "a test", std::nullopt);
  store::ResumeMonitor(session, clock, {}, monitor, std::nullopt);
  EXPECT_EQ(Cut().scheduled_ticks, 0);
  EXPECT_EQ(Sql("select count(*) from tick"), "1");
}

TEST_F(PipelineTest, G7_SlotsThatWereDueBeforeALockAreAccountedFor) {
  NewMonitor({.rows = 300});
  NewMonitor({.rows = 1, .due = "now() + interval '1 hour'"});
  ASSERT_TRUE(store::ChangeOrganisation(session, clock, org, {.locked = true}, std::nullopt));
  EXPECT_EQ(Sql("select slots || ' ' || counts[7] || ' of ' || row_count from tick"),
            "1 300 of 300");
}

TEST_F(PipelineTest, G7_ADueSlotOutlivesAChangeOfTheFrequencyAndTheAnchorHolds) {
  const auto monitor = NewMonitor({.rows = 1, .frequency_s = "3600"});
  Sql("update monitor_sched set anchor_at = now() - interval '3605 s', "
      "next_run_at = now() - interval '5 s' returning 1");
  store::MonitorChange change;
  change.frequency_text = "7m";
  change.frequency = std::chrono::minutes(7);
  store::UpdateMonitor(session, clock, {}, monitor, change);
  EXPECT_EQ(Cut().scheduled_ticks, 1);
  EXPECT_EQ(Sql("select mod(extract(epoch from next_run_at - anchor_at)::bigint, 420) || ' ' || "
                "(next_run_at > now()) from monitor_sched"),
            "0 true");
}

TEST_F(PipelineTest, ALockedOrganisationsMonitorsAreNotDueUntilItIsUnlocked) {
  const auto monitor = NewMonitor({.rows = 1});
  ASSERT_TRUE(store::ChangeOrganisation(session, clock, org, {.locked = true}, std::nullopt));
  EXPECT_EQ(Cut().scheduled_ticks, 0);
  store::PauseMonitor(session, clock, {}, monitor, "why", std::nullopt);
  store::ResumeMonitor(session, clock, {}, monitor, std::nullopt);
  EXPECT_EQ(Cut().scheduled_ticks, 0) << "a resume does not undo the lock";
  ASSERT_TRUE(store::ChangeOrganisation(session, clock, org, {.locked = false}, std::nullopt));
  EXPECT_EQ(Cut().scheduled_ticks, 0) << "slots that passed while locked are not due";
  EXPECT_EQ(Sql("select live and next_run_at > now() from monitor_sched"), "t");
}

TEST_F(PipelineTest, G10_AClaimTakesOfEveryOrganisationItsShareAlone) {
  NewMonitor({.rows = 2560});
  NewMonitor({.rows = 1, .org = NewOrganisation(5000)});
  Cut();
  const auto claim = ClaimAll(2);
  std::map<base::Uuid, int> chunks;
  for (const auto& chunk : claim.chunks) ++chunks[chunk.org_id];
  EXPECT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[org], 2);
}

TEST_F(PipelineTest, G10_AClaimEndsWithTheChunkThatReachesItsRows) {
  NewMonitor({.rows = 1024});
  Cut();
  const auto take = [this](int rows_max) {
    return store::ClaimChunks(session, {{org, 64, rows_max}}, base::Uuid::V4(), lease, prices,
                              kCarefulFrom)
        .chunks.size();
  };
  EXPECT_EQ(take(257), 2U);
  EXPECT_EQ(take(1), 1U);
  EXPECT_EQ(take(10'000), 1U) << "what is left";
  EXPECT_EQ(take(1), 0U);
}

// A neighbour's slow checks change nothing; a monitor's own do, by what its last tick recorded.
TEST_F(PipelineTest, G10_ChunksShrinkWhereTheMonitorsOwnChecksAreSlow) {
  const auto slow = NewMonitor({.rows = 2});
  Sql("update monitor_sched set check_ms = 60000 where monitor_id = '" + slow.ToString() + "'");
  Sql("update monitor_sched set live = false");
  NewMonitor({.rows = 200});
  const auto sizes = [this] {
    Sql("update monitor_sched set next_run_at = now() returning 1");
    Cut();
    return Sql("select string_agg(row_count::text, ',' order by firsts[1]) from chunk");
  };
  const auto record = [this](int check_ms) {
    auto records = FinishAll(ClaimAll(), Outcome::kUnchanged);
    for (auto& r : records) r.parts.at(0).check_ms = check_ms;
    Record(records);
    store::CloseLargeTicks(session, 10);
  };
  EXPECT_EQ(sizes(), "200");
  record(100);
  EXPECT_EQ(sizes(), "64,64,64,8") << "100 rows in 10 s, so 64, a part of a block";
  record(0);
  EXPECT_EQ(sizes(), "64,64,64,8") << "where no check was made it stays as it was";
  record(1);
  EXPECT_EQ(sizes(), "200");
}

// Chunks that are claimed, of which monitor, in turn.
TEST_F(PipelineTest, G10_ANewTickIsClaimedAheadOfALargeOneOfItsOrganisation) {
  const auto large = NewMonitor({.rows = 2560});
  Cut();
  EXPECT_EQ(ClaimAll(3).chunks.size(), 3U);
  const auto one = NewMonitor({.rows = 1});
  Cut();
  const auto claim = ClaimAll(1);
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_EQ(claim.chunks[0].parts[0].part.monitor_id, one);
  EXPECT_EQ(ClaimAll(1).chunks.at(0).parts[0].part.monitor_id, large);
}

TEST_F(PipelineTest, G10_TwoLargeTicksOfOneOrganisationAreClaimedInTurns) {
  limits.rows_per_cut_max = 1024;
  const auto cut = [this] {
    Cut();
    while (store::MaterialisePortions(session, clock, limits).more) {
    }
  };
  NewMonitor({.rows = 5120});
  cut();
  ClaimAll(8);
  const auto second = NewMonitor({.rows = 5120});
  cut();
  int of_second = 0;
  for (int i = 0; i < 5; ++i) {
    for (const auto& chunk : ClaimAll(2).chunks) {
      if (chunk.parts[0].part.monitor_id == second) ++of_second;
    }
  }
  EXPECT_GE(of_second, 4) << "of ten";
  EXPECT_LE(of_second, 6) << "of ten";
}

TEST_F(PipelineTest, AChunkThatKeepsKillingItsWorkersIsHalvedDownToTheRow) {
  NewMonitor({.rows = 4});
  Cut();
  int splits = 0;
  for (;;) {
    const auto claim = ClaimAll();
    bool split = false;
    for (const auto& chunk : claim.chunks) {
      split = store::SplitChunk(session, clock, {chunk.id, chunk.lease_token}) || split;
      if (chunk.row_count == 1) store::ReleaseChunks(session, {{chunk.id, chunk.lease_token}});
    }
    ExpectMoneyAddsUp();
    if (!split) break;
    ++splits;
  }
  EXPECT_EQ(splits, 2);
  EXPECT_EQ(Sql("select count(*) from chunk where row_count = 1"), "4");
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  EXPECT_EQ(Sql("select counts::text from tick"), "{0,0,4,0,0,0,0,0,0}");
  ExpectMoneyAddsUp();
}

TEST_F(PipelineTest, AReservationOfAnEarlierMonthGoesBackToThatMonth) {
  const auto team = NewTeam(10000);
  NewMonitor({.rows = 2, .team = team});
  Cut();
  ClaimAll();
  Sql("update chunk set month = month - interval '1 month', available_at = now();"
      "update team_spend set month = month - interval '1 month'");
  Record(FinishAll(ClaimAll(), Outcome::kFailed));
  EXPECT_EQ(Sql("select sum(spent_mc) from team_spend"), "0");
  ExpectMoneyAddsUp();
}

}  // namespace
}  // namespace vedette::test
