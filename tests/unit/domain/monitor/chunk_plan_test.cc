#include "domain/monitor/chunk_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/text/limits.h"
#include "tests/support/ids.h"

namespace vedette::domain {
namespace {

using vedette::test::Id;

base::Timestamp At(int second) {
  return base::Timestamp(std::chrono::seconds(1'800'000'000 + second));
}

TickRows SmallTick(int monitor, int rows) {
  TickRows tick;
  tick.org_id = Id(1);
  tick.part = {Id(monitor), 7, 0, rows};
  tick.due_at = At(monitor);
  return tick;
}

TickRows LargePortion(int monitor, int first, int end) {
  TickRows tick = SmallTick(monitor, end);
  tick.part.first = first;
  tick.large = true;
  return tick;
}

// The ends of a large tick's chunks, in order.
std::vector<int> Ends(const std::vector<ChunkPlan>& plans) {
  std::vector<int> ends;
  for (const ChunkPlan& plan : plans) {
    EXPECT_EQ(plan.parts.size(), 1U);
    ends.push_back(plan.parts.back().end);
  }
  return ends;
}

TEST(ChunkPlan, AChunkHasAsManyRowsAsItsMonitorsChecksTakeTheTargetFor) {
  using std::chrono::milliseconds;
  const auto rows = [](int check_ms) {
    return ChunkRowsFor(milliseconds(check_ms), milliseconds(10'000), 256);
  };
  EXPECT_EQ(rows(0), 256) << "unknown";
  EXPECT_EQ(rows(1), 256);
  EXPECT_EQ(rows(39), 256);
  EXPECT_EQ(rows(40), 250);
  EXPECT_EQ(rows(500), 20);
  EXPECT_EQ(rows(9'999), 1);
  EXPECT_EQ(rows(600'000), 1) << "a check of ten minutes is a chunk of its own";
}

TEST(ChunkPlan, ADurationIsNotedWhereItIsTwiceOrHalfWhatIsKnown) {
  EXPECT_TRUE(PaceMoved(0, 16)) << "nothing is known";
  EXPECT_FALSE(PaceMoved(0, 15));
  EXPECT_TRUE(PaceMoved(100, 200));
  EXPECT_FALSE(PaceMoved(100, 199));
  EXPECT_FALSE(PaceMoved(100, 51));
  EXPECT_TRUE(PaceMoved(100, 50));
  EXPECT_FALSE(PaceMoved(100, 0)) << "no check was made";
  EXPECT_FALSE(PaceMoved(1, 8)) << "short ones fill no chunk";
  EXPECT_TRUE(PaceMoved(16, 1));
}

TEST(ChunkPlan, G10_EveryMonitorHasItsOwnSizeWhateverItsNeighboursTake) {
  TickRows slow = LargePortion(11, 0, 5);
  slow.chunk_rows = 2;
  EXPECT_EQ(Ends(PlanChunks({slow, LargePortion(12, 0, 300)}, 256)),
            (std::vector<int>{2, 4, 5, 256, 300}));
}

TEST(ChunkPlan, SmallTicksShareAChunkUpToItsRowsAndItsWork) {
  std::vector<TickRows> ticks;
  for (int i = 0; i < 4; ++i) {
    ticks.push_back(SmallTick(11 + i, 1));
    ticks.back().chunk_rows = 3;
  }
  ticks.push_back(SmallTick(21, 100));  // fast: as much work as a row and a half of the others
  ticks.push_back(SmallTick(22, 100));
  const auto plans = PlanChunks(ticks, 256);
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(plans[0].row_count, 3);
  EXPECT_EQ(plans[1].row_count, 101) << "another 100 would be over the work of a chunk";
}

TEST(ChunkPlan, SmallTicksOfOneOrganisationShareAChunkInTheOrderGiven) {
  const auto plans = PlanChunks({SmallTick(11, 2), SmallTick(12, 3), SmallTick(13, 5)}, 10);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].row_count, 10);
  EXPECT_FALSE(plans[0].large_monitor_id.has_value());
  ASSERT_EQ(plans[0].parts.size(), 3U);
  EXPECT_EQ(plans[0].parts[0].monitor_id, Id(11));
  EXPECT_EQ(plans[0].parts[1].monitor_id, Id(12));
  EXPECT_EQ(plans[0].parts[2].monitor_id, Id(13));
}

TEST(ChunkPlan, ATickThatDoesNotFitAnyMoreOpensAnotherChunkAndStaysWhole) {
  const auto plans = PlanChunks({SmallTick(11, 6), SmallTick(12, 5), SmallTick(13, 5)}, 10);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].row_count, 6);
  EXPECT_EQ(plans[1].row_count, 10);
  EXPECT_EQ(plans[1].parts.size(), 2U);
}

TEST(ChunkPlan, AChunkIsDueWhenTheEarliestOfItsTicksIs) {
  auto late = SmallTick(11, 1);
  auto early = SmallTick(12, 1);
  late.due_at = At(100);
  early.due_at = At(5);
  EXPECT_EQ(PlanChunks({late, early}, 10).at(0).due_at, At(5));
  EXPECT_EQ(PlanChunks({early, late}, 10).at(0).due_at, At(5));
}

TEST(ChunkPlan, OrganisationsTeamsAndTiersNeverShareAChunk) {
  auto other_org = SmallTick(12, 1);
  other_org.org_id = Id(2);
  auto team = SmallTick(13, 1);
  team.team_id = Id(90);
  auto other_team = SmallTick(14, 1);
  other_team.team_id = Id(91);
  auto tier = SmallTick(15, 1);
  tier.tier = Tier::kHigh;
  const auto plans = PlanChunks(
      {SmallTick(11, 1), other_org, team, other_team, tier, SmallTick(16, 1), team}, 100);
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].row_count, 2) << "what belongs together meets across the others";
  EXPECT_EQ(plans[2].row_count, 2);
  EXPECT_EQ(plans[2].team_id, Id(90));
  EXPECT_EQ(plans[4].tier, Tier::kHigh);
}

TEST(ChunkPlan, EmptyTicksGetNoChunk) {
  EXPECT_TRUE(PlanChunks({SmallTick(11, 0), LargePortion(12, 256, 256)}, 10).empty());
  EXPECT_TRUE(PlanChunks({}, 10).empty());
}

TEST(ChunkPlan, ALargeTicksChunksAreWholeBlocksOrAPartOfOne) {
  const TickRows tick = LargePortion(11, 0, 600);
  EXPECT_EQ(Ends(PlanChunks({tick}, 256)), (std::vector<int>{256, 512, 600}));
  EXPECT_EQ(Ends(PlanChunks({tick}, 511)), (std::vector<int>{256, 512, 600}));
  EXPECT_EQ(Ends(PlanChunks({tick}, 512)), (std::vector<int>{512, 600}));
  EXPECT_EQ(Ends(PlanChunks({tick}, 1000)), (std::vector<int>{600})) << "a multiple of 256: 768";
  EXPECT_EQ(Ends(PlanChunks({tick}, 200)), (std::vector<int>{128, 256, 384, 512, 600}));
  EXPECT_EQ(Ends(PlanChunks({tick}, 100)).front(), 64);
  EXPECT_EQ(PlanChunks({tick}, 1).size(), 600U);
  for (const ChunkPlan& plan : PlanChunks({tick}, 256)) EXPECT_EQ(plan.large_monitor_id, Id(11));
}

TEST(ChunkPlan, ALargeTickTakesNoSmallOneInAndLeavesTheOpenChunkOpen) {
  const auto plans = PlanChunks({SmallTick(11, 1), LargePortion(12, 0, 10), SmallTick(13, 1)}, 256);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].row_count, 2);
  EXPECT_FALSE(plans[0].large_monitor_id.has_value());
  EXPECT_EQ(plans[1].row_count, 10);
}

// The borders of a large tick come from its rows' positions alone, so that the same rows meet in
// the same chunk tick after tick, whatever portions the tick came in.
TEST(ChunkPlan, ALargeTickIsCutAtTheSameBordersWhateverPortionsItComesIn) {
  std::mt19937_64 random(7);
  for (const int chunk_rows_max : {1, 100, 256, 1000}) {
    const int rows = 5000;
    const auto whole = Ends(PlanChunks({LargePortion(11, 0, rows)}, chunk_rows_max));
    const std::set<int> borders(whole.begin(), whole.end());
    for (int round = 0; round < 20; ++round) {
      std::set<int> expected = borders;
      std::vector<int> actual;
      for (int first = 0; first < rows;) {
        const int blocks = static_cast<int>(1 + random() % 8);
        const int end = std::min(rows, first + blocks * kBlockRows);
        for (const int e : Ends(PlanChunks({LargePortion(11, first, end)}, chunk_rows_max))) {
          actual.push_back(e);
        }
        expected.insert(end);  // a portion ends a chunk, and nothing else does
        first = end;
      }
      EXPECT_EQ(actual, std::vector<int>(expected.begin(), expected.end()))
          << "chunk_rows_max " << chunk_rows_max;
    }
  }
}

// What must hold of any plan of these ticks.
void ExpectValid(const std::vector<TickRows>& ticks, const std::vector<ChunkPlan>& plans,
                 int chunk_rows_max) {
  std::map<std::pair<base::Uuid, std::int64_t>, const TickRows*> by_tick;
  for (const TickRows& t : ticks) by_tick[{t.part.monitor_id, t.part.tick_id}] = &t;
  std::map<std::pair<base::Uuid, std::int64_t>, std::vector<std::pair<int, int>>> pieces;
  for (const ChunkPlan& plan : plans) {
    ASSERT_FALSE(plan.parts.empty());
    int rows = 0;
    base::Timestamp earliest = base::Timestamp::max();
    for (const ChunkPart& part : plan.parts) {
      ASSERT_LT(part.first, part.end);
      rows += part.end - part.first;
      const TickRows& tick = *by_tick.at({part.monitor_id, part.tick_id});
      EXPECT_EQ(tick.org_id, plan.org_id);
      EXPECT_EQ(tick.team_id, plan.team_id);
      EXPECT_EQ(tick.tier, plan.tier);
      EXPECT_EQ(tick.large, plan.large_monitor_id.has_value());
      earliest = std::min(earliest, tick.due_at);
      if (tick.large) {
        EXPECT_EQ(plan.parts.size(), 1U);
        EXPECT_EQ(plan.large_monitor_id, part.monitor_id);
        const bool one_block = part.first / kBlockRows == (part.end - 1) / kBlockRows;
        const bool whole_blocks = part.first % kBlockRows == 0 &&
                                  (part.end % kBlockRows == 0 || part.end == tick.part.end);
        EXPECT_TRUE(one_block || whole_blocks) << part.first << " to " << part.end;
      }
      pieces[{part.monitor_id, part.tick_id}].emplace_back(part.first, part.end);
    }
    EXPECT_EQ(rows, plan.row_count);
    EXPECT_LE(rows, chunk_rows_max);
    EXPECT_EQ(earliest, plan.due_at);
  }
  EXPECT_EQ(pieces.size(), by_tick.size());
  for (auto& [tick_key, ranges] : pieces) {
    const TickRows& tick = *by_tick.at(tick_key);
    if (!tick.large) {
      EXPECT_EQ(ranges.size(), 1U) << "a whole tick was split";
    }
    std::sort(ranges.begin(), ranges.end());
    int at = tick.part.first;
    for (const auto& [first, end] : ranges) {
      EXPECT_EQ(first, at) << "a row is in no chunk or in two";
      at = end;
    }
    EXPECT_EQ(at, tick.part.end);
  }
}

TEST(ChunkPlan, G7EveryRowIsInExactlyOneChunk) {
  std::mt19937_64 random(20261121);
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(n));
  };
  for (const int chunk_rows_max : {1, 2, 100, 255, 256, 257, 1000}) {
    for (int round = 0; round < 12; ++round) {
      std::vector<TickRows> ticks;
      const int count = 1 + below(120);
      for (int monitor = 0; monitor < count; ++monitor) {
        TickRows tick = below(10) == 0 ? LargePortion(monitor, below(40) * kBlockRows, 0)
                                       : SmallTick(monitor, 1 + below(chunk_rows_max));
        if (tick.large) tick.part.end = tick.part.first + 1 + below(4000);
        tick.org_id = Id(1000 + below(3));
        if (below(2) == 0) tick.team_id = Id(2000 + below(2));
        tick.tier = static_cast<Tier>(below(4));
        tick.part.tick_id = 1 + below(1'000'000);
        tick.due_at = At(below(100));
        ticks.push_back(tick);
      }
      SCOPED_TRACE(chunk_rows_max);
      SCOPED_TRACE(round);
      ExpectValid(ticks, PlanChunks(ticks, chunk_rows_max), chunk_rows_max);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace vedette::domain
