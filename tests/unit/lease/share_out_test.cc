#include "lease/share_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/ids.h"

namespace vedette::lease {
namespace {

using vedette::test::Id;

Asking Org(int n, std::size_t rows_open = 0, std::size_t first_rows = 1) {
  return {.org_id = Id(n), .first_rows = first_rows, .rows_open = rows_open};
}

// The shares of a worker with 1,000 slots and nothing claimed ahead.
Room RoomWith(std::size_t rows_open, std::size_t in_flight = 0) {
  Room room;
  room.rows_max = 1000;
  room.rows_open = rows_open;
  room.rows_left = 4000;
  room.slots_max = 1000;
  room.in_flight = in_flight;
  room.rows_left_for_slots = 4000;
  room.newcomer_share = 0.1;
  return room;
}

std::map<base::Uuid, int> Rows(const std::vector<store::ClaimShare>& shares) {
  std::map<base::Uuid, int> rows;
  for (const auto& share : shares) rows[share.org_id] = share.rows_max;
  return rows;
}

TEST(ShareOut, G10_OneThatIsAloneTakesAllButTheNewcomersShare) {
  EXPECT_EQ(Rows(ShareOut({Org(1)}, RoomWith(0)))[Id(1)], 900);
  EXPECT_EQ(Rows(ShareOut({Org(1, 600)}, RoomWith(600)))[Id(1)], 300);
  EXPECT_TRUE(ShareOut({Org(1, 900)}, RoomWith(900, 900)).empty());
}

TEST(ShareOut, G10_SeveralThatAskForMuchTakeTheSameAndLeaveRoom) {
  auto rows = Rows(ShareOut({Org(1), Org(2), Org(3)}, RoomWith(0)));
  EXPECT_EQ(rows[Id(1)], 321);
  EXPECT_EQ(rows[Id(2)], 321);
  EXPECT_EQ(rows[Id(3)], 321);
  // One came later: it takes what is free until the two hold the same, and the first takes nothing.
  rows = Rows(ShareOut({Org(1, 800), Org(2, 0)}, RoomWith(800)));
  EXPECT_EQ(rows, (std::map<base::Uuid, int>{{Id(2), 180}}));
}

TEST(ShareOut, G10_WhoHoldsNothingGetsAChunkWhileAnythingIsFree) {
  std::vector<Asking> asking;
  for (int i = 0; i < 300; ++i) asking.push_back(Org(i));
  const auto shares = ShareOut(asking, RoomWith(990, 990));
  EXPECT_EQ(shares.size(), 10U) << "a row each, as long as there is room";
  EXPECT_EQ(ShareOut({Org(7)}, RoomWith(1000, 999)).size(), 1U)
      << "all room is taken, but a slot is free";
  EXPECT_TRUE(ShareOut({Org(7)}, RoomWith(1000, 1000)).empty());
}

TEST(ShareOut, G10_ANewcomerInsideAnOrganisationThatHasItsShareGetsAChunk) {
  Asking own = Org(1, 900);
  own.in_flight = 900;
  EXPECT_TRUE(ShareOut({own}, RoomWith(900, 900)).empty()) << "the large monitor itself";
  own.newcomer = true;
  const auto shares = ShareOut({own}, RoomWith(900, 900));
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].chunks_max, 1);
  EXPECT_EQ(shares[0].rows_max, 1);
  own.rows_open = own.in_flight = 950;
  EXPECT_TRUE(ShareOut({own}, RoomWith(950, 950)).empty())
      << "half of the newcomers' share stays for other organisations";
}

TEST(ShareOut, ChunksFollowFromTheFirstOnesSizeAndAreBounded) {
  EXPECT_EQ(ShareOut({Org(1, 0, 256)}, RoomWith(0))[0].chunks_max, 4);
  EXPECT_EQ(ShareOut({Org(1, 0, 1)}, RoomWith(0))[0].chunks_max, 512);
  EXPECT_EQ(ShareOut({Org(1, 0, 5000)}, RoomWith(0))[0].chunks_max, 1);
}

TEST(ShareOut, ChunksThatWaitForTheirLastChecksDoNotKeepTheWorkerIdleButAreBounded) {
  Room room = RoomWith(10, 10);
  EXPECT_EQ(Rows(ShareOut({Org(1, 10)}, room))[Id(1)], 890);
  room.rows_left = 100;
  EXPECT_EQ(Rows(ShareOut({Org(1, 10)}, room))[Id(1)], 89);
  room.rows_left = 0;
  EXPECT_TRUE(ShareOut({Org(1, 10)}, room).empty());
  EXPECT_EQ(ShareOut({Org(2)}, room).size(), 1U) << "who holds nothing still gets a slot";
}

// Whatever the demand: nobody is above the level of the others and room stays for a newcomer.
TEST(ShareOut, G10_RoundsOfClaimsEndInEqualSharesWithRoomLeft) {
  for (int orgs = 1; orgs <= 40; ++orgs) {
    std::vector<Asking> asking;
    for (int i = 0; i < orgs; ++i) asking.push_back(Org(i));
    std::size_t open = 0;
    for (int round = 0; round < 50; ++round) {
      for (const auto& share : ShareOut(asking, RoomWith(open))) {
        asking[share.org_id.bytes[15]].rows_open += static_cast<std::size_t>(share.rows_max);
        open += static_cast<std::size_t>(share.rows_max);
      }
    }
    ASSERT_LT(open, 1000U) << orgs << " greedy ones";
    const auto [least, most] = std::minmax_element(
        asking.begin(), asking.end(),
        [](const Asking& a, const Asking& b) { return a.rows_open < b.rows_open; });
    EXPECT_LE(most->rows_open - least->rows_open, 1U) << orgs << " greedy ones";
  }
}

TEST(MayStart, G10_NewcomersInsideMayUseHalfOfTheNewcomersShare) {
  EXPECT_TRUE(MayStart(899, RoomWith(0, 899), false));
  EXPECT_FALSE(MayStart(900, RoomWith(0, 900), false));
  EXPECT_TRUE(MayStart(900, RoomWith(0, 900), true));
  EXPECT_FALSE(MayStart(950, RoomWith(0, 950), true));
  EXPECT_TRUE(MayStart(0, RoomWith(0, 999), false)) << "another organisation";
  EXPECT_FALSE(MayStart(0, RoomWith(0, 1000), false));
}

TEST(NextCursor, BeginsBehindTheLastThatGotSomethingWhereAnotherGotNothing) {
  using Shares = std::vector<store::ClaimShare>;
  EXPECT_EQ(NextCursor(3, Shares{{Id(1), 1, 1}, {Id(2), 1, 1}}, Id(9)), Id(2));
  EXPECT_EQ(NextCursor(3, Shares{{Id(1), 1, 1}, {Id(2), 1, 1}, {Id(3), 1, 1}}, Id(9)), Id(9));
  EXPECT_EQ(NextCursor(3, Shares{}, Id(9)), Id(9));
}

}  // namespace
}  // namespace vedette::lease
