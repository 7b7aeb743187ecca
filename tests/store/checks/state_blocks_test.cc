// What is known of rows, by blocks of 256: packing, merging, the fence, and what a process of the
// version before reads and writes there.

#include "store/checks/state_blocks.h"

#include <fmt/format.h>

#include <random>

#include "domain/text/limits.h"
#include "store/monitors/rows.h"
#include "store/schema.h"
#include "tests/store/support/outcome_words.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using domain::Outcome;
using store::RowState;

const std::string kStates =
    "select string_agg(outcome || ' ' || last_tick_id || ' ' || coalesce(last_run_at::text, '-'), "
    "', ' order by monitor_id, position) from row_state";

base::Timestamp At(int second) {
  return base::Timestamp(std::chrono::seconds(1'700'000'000 + second));
}

TEST(StateBlocks, WhatIsPackedIsReadAsItWas) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const int kinds : {1, 2, 5, 1000}) {
    for (const int rows : {1, 2, 255, domain::kBlockRows}) {
      std::vector<RowState> states;
      for (int i = 0; i < rows; ++i) {
        RowState& state = states.emplace_back();
        const int kind = below(kinds);
        state.outcome = static_cast<std::uint8_t>(below(domain::kOutcomeMax + 1));
        state.last_tick_id = kind / 2;
        if (kind > 0) state.last_run_at = At(kind);
      }
      const store::StateBlock block = store::PackStates(states);
      EXPECT_EQ(store::UnpackStates(block), states) << kinds << " kinds of " << rows;
      if (kinds == 1) {
        EXPECT_FALSE(block.groups);
      }
    }
  }
}

class StateBlocksTest : public PipelineTest {
 public:
  // A record of the claim's first chunk that has outcomes of some of its rows.
  static store::ChunkRecord Some(store::ChunkRecord record, int from, int until) {
    record.finished = false;
    std::string& outcomes = record.ranges.at(0).outcomes;
    for (int i = 0; i < static_cast<int>(outcomes.size()); ++i) {
      if (i < from || i >= until) outcomes[static_cast<std::size_t>(i)] = domain::kNoOutcome;
    }
    record.completed = until - from;
    return record;
  }
  std::string Rows(const std::string& where) {
    return Sql("select count(*) from row_state where " + where);
  }
};

TEST_F(StateBlocksTest, G1_ARowIsRecordedOnceATickWhetherItsBlockIsWholeOrNot) {
  limits.chunk_rows_max = 512;
  NewMonitor({.rows = 300});
  Cut();
  const auto claim = ClaimAll();
  ASSERT_EQ(claim.chunks.size(), 1U);
  const auto all = FinishAll(claim, Outcome::kUnchanged);
  Record({Some(all[0], 0, 256)});  // a block
  const std::string after = Sql(kStates);
  EXPECT_THROW(Record({Some(all[0], 0, 256)}), std::logic_error);
  EXPECT_THROW(Record({Some(all[0], 255, 260)}), std::logic_error) << "half in the block";
  EXPECT_EQ(Sql(kStates), after);
  Record({Some(all[0], 256, 260)});
  EXPECT_THROW(Record({Some(all[0], 259, 300)}), std::logic_error);
  EXPECT_THROW(Record(all), std::logic_error);
  EXPECT_EQ(Rows("outcome = 2"), "260");
  ExpectMoneyAddsUp();
}

TEST_F(StateBlocksTest, G6_RowsOfABlockKeepWhatEachWasLookedAtUntil) {
  NewMonitor({.rows = 3});
  Cut();
  const auto claim = ClaimAll();
  auto all = FinishAll(claim, Outcome::kUnchanged);
  all[0].ranges[0].looked_until = At(1);
  Record({Some(all[0], 0, 1)});
  all[0].ranges[0].looked_until = At(2);
  all[0].ranges[0].outcomes[1] = static_cast<char>(Outcome::kFailed);
  Record({Some(all[0], 1, 3)});
  EXPECT_EQ(InWords(Sql("select encode(outcomes, 'hex') from state_block")),
            "unchanged, failed, unchanged");
  EXPECT_EQ(Rows("last_tick_id = " + std::to_string(all[0].ranges[0].tick_id)), "3");
  const auto second = [&] {
    store::ReleaseChunks(session, {all[0].lease});
    return ClaimAll();
  }();
  const auto& rows = second.chunks.at(0).parts.at(0).rows;
  EXPECT_EQ(rows[0].last_run_at, At(1));
  EXPECT_EQ(rows[1].last_run_at, std::nullopt);
  EXPECT_EQ(rows[1].done, Outcome::kFailed);
  EXPECT_EQ(rows[2].last_run_at, At(2));
}

TEST_F(StateBlocksTest, G2_RowsThatJoinWhileOthersAreCheckedHaveNotBeenChecked) {
  const auto monitor = NewMonitor({.rows = 2});
  Cut();
  const auto claim = ClaimAll();
  store::InTransaction(session,
                       [&](store::Transaction& tx) { store::AddStates(tx, monitor, 2, 600); });
  Record(FinishAll(claim, Outcome::kUnchanged));
  EXPECT_EQ(Rows("outcome = 2 and last_tick_id > 0 and last_run_at is not null and position < 2"),
            "2");
  EXPECT_EQ(Rows("outcome = 0 and last_tick_id = 0 and last_run_at is null"), "598");
  EXPECT_EQ(Sql("select string_agg(length(outcomes)::text, ' ' order by block) from state_block"),
            "256 256 88");
}

TEST_F(StateBlocksTest, PartsOfABlockAreRecordedByTwoWorkersInOneTick) {
  limits.chunk_rows_max = 64;  // checks that take long
  NewMonitor({.rows = 256});
  Cut();
  const auto claim = ClaimAll();
  ASSERT_EQ(claim.chunks.size(), 4U);
  auto all = FinishAll(claim, Outcome::kChanged);
  int n = 0;
  for (auto& record : all) {
    record.ranges[0].looked_until = At(++n);
    Record({record});
  }
  EXPECT_EQ(Sql("select string_agg(of || '', ' ') from (select count(*) as of from row_state where "
                "outcome = 1 group by last_run_at) g"),
            "64 64 64 64");
  // The next tick finds them all, and makes the block one again.
  ASSERT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  Sql("update monitor_sched set next_run_at = now()");
  limits.chunk_rows_max = 256;
  Cut();
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select count(*) from state_block where groups is null"), "1");
  EXPECT_EQ(Rows("outcome = 2"), "256");
}

// What the version before runs for a check, and when rows join and go.
TEST_F(StateBlocksTest, AProcessOfTheVersionBeforeReadsAndWritesThemByRow) {
  const auto monitor = NewMonitor({.rows = 3}).ToString();
  const auto record = [&](int first, const std::string& outcomes, int tick) {
    return Sql(fmt::format(
        "with done as (update row_state s set last_tick_id = r.tick_id, outcome = "
        "get_byte(r.outcomes, s.position - r.first), last_run_at = case when get_byte(r.outcomes, "
        "s.position - r.first) in (1, 2) then r.looked_until else s.last_run_at end "
        "from (select unnest('{{{0}}}'::uuid[]) as monitor_id, unnest('{{{1}}}'::bigint[]) as "
        "tick_id, unnest('{{{2}}}'::int[]) as first, '{3}'::bytea as outcomes, timestamptz "
        "'2026-01-01Z' + {1} * interval '1 s' as looked_until) as r where s.monitor_id = "
        "r.monitor_id and s.position >= r.first and s.position < r.first + length(r.outcomes) and "
        "get_byte(r.outcomes, s.position - r.first) <> 0 and s.last_tick_id < r.tick_id returning "
        "1) select count(*) from done",
        monitor, tick, first, outcomes));
  };
  EXPECT_EQ(record(0, "\\x020003", 7), "2");
  EXPECT_EQ(record(0, "\\x020203", 7), "1") << "the row fence";
  EXPECT_EQ(record(0, "\\x020201", 7), "0");
  EXPECT_EQ(Sql(kStates), "2 7 2026-01-01 00:00:07+00, 2 7 2026-01-01 00:00:07+00, 3 7 -");
  EXPECT_EQ(record(0, "\\x020101", 8), "3");
  EXPECT_EQ(Sql("select count(*) from state_block where groups is null"), "1")
      << "rows that are alike are one group again";

  Sql(
      fmt::format("insert into row_state (monitor_id, position) select '{}', "
                  "generate_series(3, 299)",
                  monitor));
  EXPECT_EQ(Rows("outcome = 0 and last_tick_id = 0 and last_run_at is null"), "297");
  EXPECT_EQ(record(299, "\\x02", 9), "1");
  EXPECT_EQ(Rows("last_tick_id = 9 and position = 299"), "1");
  Sql("delete from row_state where position < 2");
  EXPECT_EQ(Rows("position < 256"), "0") << "of a monitor that is gone";
}

TEST(StateBlocks, TheMigrationKeepsWhatIsKnownOfEveryRow) {
  TestDatabase database(false);
  for (const store::Migration& migration : store::Migrations()) {
    if (migration.file >= std::string_view("0025")) break;
    database.Sql(std::string(migration.text));
  }
  // Monitors of 1, 2 and 600 rows: alike, and with many and few things in common.
  database.Sql(
      "insert into row_state (monitor_id, position, outcome, last_tick_id, last_run_at) "
      "select ('00000000-0000-0000-0000-00000000000' || m)::uuid, n, (n * m) % 9, case when m < 3 "
      "then m when n > 300 then n else n % 3 end, case when m = 2 then now() when n % 7 > 0 then "
      "now() - n % 3 * interval '1.000001 s' end "
      "from (values (1, 1), (2, 2), (3, 600)) as s(m, rows) cross join lateral generate_series(0, "
      "rows - 1) n");
  database.Sql("create table before as select * from row_state");
  for (const store::Migration& migration : store::Migrations()) {
    if (migration.file.starts_with("0025")) database.Sql(std::string(migration.text));
  }
  const std::string columns = "monitor_id, position, outcome, last_tick_id, last_run_at";
  EXPECT_EQ(
      database.Sql("select count(*) from ((select " + columns + " from before except select " +
                   columns + " from row_state) union all (select " + columns +
                   " from row_state except select " + columns + " from before)) d"),
      "0");
  EXPECT_EQ(database.Sql("select count(*) from row_state"), "603");
  EXPECT_EQ(database.Sql("select count(*) from state_block where groups is null"), "2");
}

}  // namespace
}  // namespace vedette::test
