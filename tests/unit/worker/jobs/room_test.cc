#include "worker/jobs/job_room.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "config/jobs_config.h"
#include "tests/unit/worker/jobs/held_job_chunks.h"

namespace vedette::worker {
namespace {

using domain::Lane;

config::JobsConfig Slots(int lookup) {
  config::JobsConfig config{};
  config.slots_lookup = lookup;
  config.newcomer_share = 0.1;
  config.waited_share = 0.25;
  return config;
}

store::DueJobs Due(int org, int rank, int rows) {
  return {Lane::kLookup, Id(org), rank, rows};
}

class JobRoom : public testing::Test {
 public:
  void Hold(const JobChunkOptions& options) {
    chunks.push_back(NewJobChunk(options, nullptr));
    holdings.Add(chunks.back());
  }
  std::vector<store::JobShare> Share(const std::vector<store::DueJobs>& due) const {
    return ShareLane(Slots(100), holdings, Lane::kLookup, due);
  }

  JobHoldings holdings;
  std::vector<JobChunkPtr> chunks;
};

TEST_F(JobRoom, OneOrganisationTakesWhatItsShareHasRoomForAndTheRestStaysFree) {
  const auto shares = Share({Due(1, 1, 10)});
  ASSERT_EQ(shares.size(), 1U);
  // 75 slots are not kept for waiting clients; an organisation that is alone takes nine tenths.
  EXPECT_EQ(shares[0].chunks_max, 7);
  EXPECT_EQ(shares[0].rank_max, kRankOther);
}

TEST_F(JobRoom, OrganisationsShareEqually) {
  const auto shares = Share({Due(1, 1, 5), Due(2, 1, 5), Due(3, 1, 5)});
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].chunks_max, shares[1].chunks_max);
  EXPECT_EQ(shares[1].chunks_max, shares[2].chunks_max);
}

TEST_F(JobRoom, WhatAClientWaitsForHasTheReservedSlots) {
  Hold({.id = 1, .org = 1, .rows = 75});
  EXPECT_TRUE(Share({Due(1, 1, 10)}).empty());
  const auto shares = Share({Due(1, 0, 1), Due(1, 1, 10)});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].rank_max, kRankWaited);
  EXPECT_GT(shares[0].chunks_max, 0);
}

// Its bulk came as parts that reach into the slots which are kept.
TEST_F(JobRoom, G10_AnOrganisationsOwnBulksTakeNothingOfWhatIsKeptForItsWaitedCalls) {
  Hold({.id = 1, .org = 1, .rows = 74});
  Hold({.id = 2, .org = 1, .job = 2, .rows = 25});
  const auto shares = Share({Due(1, 0, 1), Due(1, 1, 10)});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].rank_max, kRankWaited);
  Hold({.id = 3, .org = 1, .job = 3, .rows = 22, .rank = kRankWaited});
  EXPECT_TRUE(Share({Due(1, 0, 1)}).empty()) << "its waited rows have their share";
  EXPECT_EQ(Share({Due(2, 0, 1)}).size(), 1U) << "a neighbour's have room";
}

TEST_F(JobRoom, AnOrganisationWithBothRanksIsAskedForOnce) {
  const auto shares = Share({Due(1, 0, 1), Due(1, 1, 10), Due(2, 1, 10)});
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].org_id, Id(1));
  EXPECT_EQ(shares[0].rank_max, kRankOther);
}

TEST_F(JobRoom, G11_OneClaimBringsNoMoreThanANamedNumberOfChunksOfAnOrganisation) {
  const auto shares = Share({Due(1, 1, 1)});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].chunks_max, static_cast<int>(kJobChunksPerShareMax));
}

TEST_F(JobRoom, ANewcomerGetsAChunkWhileSlotsAreFreeAlthoughAllRowsAreHeld) {
  Hold({.id = 1, .org = 1, .rows = 90});
  const auto shares = Share({Due(2, 1, 10)});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].org_id, Id(2));
  EXPECT_EQ(shares[0].chunks_max, 1);
}

TEST_F(JobRoom, G11_ALaneWhoseSlotsAreTwiceHeldClaimsNothing) {
  Hold({.id = 1, .org = 1, .rows = 200});
  EXPECT_FALSE(HasClaimRoom(Slots(100), holdings.InLane(Lane::kLookup), Lane::kLookup));
  EXPECT_TRUE(HasClaimRoom(Slots(100), holdings.InLane(Lane::kSmtp), Lane::kLookup));
}

TEST_F(JobRoom, ALaneOfOneSlotServesEverybody) {
  EXPECT_TRUE(HasFreeSlot(Slots(1), holdings.InLane(Lane::kLookup), Lane::kLookup, kRankOther));
}

// A chunk of 100 bytes for each share, out of 1,000.
TEST_F(JobRoom, G11_AClaimTakesChunksWithinTheBytesThatMayBeHeldAtMostOneBeyond) {
  base::FairShares<base::Uuid> bytes(1000, 0.1);
  bytes.Take(Id(9), 750);
  const auto shares = WithinBytes({{Lane::kLookup, Id(1), kRankOther, 2},
                                   {Lane::kLookup, Id(2), kRankOther, 16},
                                   {Lane::kLookup, Id(3), kRankOther, 16}},
                                  100, &bytes);
  ASSERT_EQ(shares.size(), 2U) << "who gets nothing is left out";
  EXPECT_EQ(shares[0].chunks_max, 2);
  EXPECT_EQ(shares[1].chunks_max, 1);
  EXPECT_LT(bytes.used(), 1000U + 100U);
}

TEST_F(JobRoom, G10_AnOrganisationThatIsAloneLeavesBytesToTheNext) {
  base::FairShares<base::Uuid> bytes(1000, 0.1);
  const auto of_one = WithinBytes({{Lane::kLookup, Id(1), kRankOther, 16}}, 50, &bytes);
  ASSERT_EQ(of_one.size(), 1U);
  EXPECT_EQ(of_one[0].chunks_max, 16);
  EXPECT_EQ(WithinBytes({{Lane::kLookup, Id(1), kRankOther, 16}}, 50, &bytes).at(0).chunks_max, 2);
  EXPECT_EQ(WithinBytes({{Lane::kLookup, Id(2), kRankOther, 1}}, 50, &bytes).size(), 1U);
}

TEST_F(JobRoom, G11_WhatIsHeldIsCountedInBytesByOrganisationOverAllLanes) {
  Hold({.id = 1, .org = 1, .rows = 10});
  Hold({.id = 2, .org = 1, .rows = 10, .lane = Lane::kSmtp});
  Hold({.id = 3, .org = 2, .rows = 1});
  const std::size_t ten = 20;  // a digit, and what separates it, of each row
  EXPECT_EQ(holdings.bytes_held(), 2 * ten + 2);
  EXPECT_EQ(holdings.BytesOf(1000, 0.1).held_by(Id(1)), 2 * ten);
  holdings.Remove(chunks[1]);
  EXPECT_EQ(holdings.BytesOf(1000, 0.1).held_by(Id(1)), ten);
  EXPECT_EQ(holdings.bytes_held(), ten + 2);
}

// Four organisations with endless work, in parts of sixteen rows beside four slots: most scans find
// no room.
TEST_F(JobRoom, G10_OrganisationsTakeEvenTurnsWhereTheirPartsAreLargerThanWhatIsFree) {
  const config::JobsConfig config = Slots(4);
  std::map<base::Uuid, int> served;
  std::deque<JobChunkPtr> held;
  LaneTurns turns;
  base::Uuid cursor;
  int id = 0;
  while (id < 40) {
    if (HasClaimRoom(config, holdings.InLane(Lane::kLookup), Lane::kLookup)) {
      std::vector<store::DueJobs> seen;
      for (int org = 1; org <= 4; ++org) {
        if (cursor < Id(org)) seen.push_back(Due(org, 1, 16));
      }
      const auto due = turns.InTurn(seen);
      const auto shares = ShareLane(config, holdings, Lane::kLookup, due);
      turns.Shared(due, shares, holdings);
      cursor = NextCursor(due, shares, {});
      for (const store::JobShare& share : shares) {
        ++served[share.org_id];
        held.push_back(NewJobChunk({.id = ++id, .job = id, .rows = 16}, nullptr));
        held.back()->org_id = share.org_id;
        holdings.Add(held.back());
      }
    }
    // One of the rows under way ends.
    while (HasFreeSlot(config, holdings.InLane(Lane::kLookup), Lane::kLookup, kRankOther) &&
           held.front()->in_flight < held.front()->rows_open) {
      holdings.EnterFlight(*held.front());
    }
    holdings.LeaveFlight(*held.front());
    holdings.CloseRow(*held.front());
    if (held.front()->Finished()) {
      holdings.Remove(held.front());
      held.pop_front();
    }
  }
  ASSERT_EQ(served.size(), 4U);
  for (const auto& [org, times] : served) EXPECT_NEAR(times, 10, 1);
}

TEST_F(JobRoom, HoldingsCountByLaneAndOrganisationUntilTheLastRowHasLeft) {
  Hold({.id = 1, .org = 1, .rows = 2});
  HeldJobChunk& chunk = *chunks[0];
  holdings.EnterFlight(chunk);
  EXPECT_EQ(holdings.InLane(Lane::kLookup).rows_open, 2U);
  EXPECT_EQ(holdings.FindOrg(Id(1), Lane::kLookup)->in_flight, 1U);
  EXPECT_TRUE(holdings.Remove(chunks[0]));
  EXPECT_FALSE(holdings.Remove(chunks[0]));
  EXPECT_EQ(holdings.InLane(Lane::kLookup).rows_open, 0U);
  EXPECT_EQ(holdings.InLane(Lane::kLookup).in_flight, 1U);
  EXPECT_NE(holdings.FindOrg(Id(1), Lane::kLookup), nullptr);
  holdings.LeaveFlight(chunk);
  EXPECT_EQ(holdings.FindOrg(Id(1), Lane::kLookup), nullptr);
}

TEST_F(JobRoom, HoldingsCountWhatClientsWaitForBesideAll) {
  Hold({.id = 1, .org = 1, .rows = 2});
  Hold({.id = 2, .org = 1, .job = 2, .rows = 3, .rank = kRankWaited});
  holdings.EnterFlight(*chunks[1]);
  const lease::LaneLoad& lane = holdings.InLane(Lane::kLookup);
  EXPECT_EQ(lane.rows_open, 5U);
  EXPECT_EQ(lane.waited.rows_open, 3U);
  EXPECT_EQ(lane.waited.in_flight, 1U);
  EXPECT_EQ(holdings.FindOrg(Id(1), Lane::kLookup)->waited.chunks, 1U);
  holdings.LeaveFlight(*chunks[1]);
  holdings.CloseRow(*chunks[1]);
  holdings.Remove(chunks[1]);
  EXPECT_EQ(lane.waited.rows_open, 0U);
  EXPECT_EQ(lane.rows_open, 2U);
}

}  // namespace
}  // namespace vedette::worker
