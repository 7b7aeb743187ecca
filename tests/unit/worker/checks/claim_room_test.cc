#include "worker/checks/claim_room.h"

#include <gtest/gtest.h>

#include "tests/unit/worker/checks/held_chunks.h"

namespace vedette::worker {
namespace {

constexpr std::size_t kNoBound = 1'000'000'000;

RoomLimits Limits(std::size_t bytes_max = kNoBound) {
  return {.slots_max = 10,
          .chunk_rows_max = 4,
          .bytes_max = bytes_max,
          .row_bytes_max = 100,
          .newcomer_share = 0.1};
}

TEST(ClaimAhead, GrowsWhereRowsRunOutUpToItsLimit) {
  ClaimAhead ahead(100);
  EXPECT_EQ(ahead.rows(), 64U);
  ahead.RanOut();
  EXPECT_EQ(ahead.rows(), 100U);
  ClaimAhead none(0);
  none.RanOut();
  EXPECT_EQ(none.rows(), 0U);
}

TEST(ClaimAhead, ShrinksWhereMoreThanHalfOfItWaits) {
  ClaimAhead ahead(100);
  ahead.FoundWaiting(32);
  EXPECT_EQ(ahead.rows(), 64U);
  ahead.FoundWaiting(33);
  EXPECT_EQ(ahead.rows(), 56U);
  for (int i = 0; i < 100; ++i) ahead.FoundWaiting(100);
  EXPECT_EQ(ahead.rows(), 0U) << "slow checks are left to workers that can start them at once";
  ahead.RanOut();
  EXPECT_EQ(ahead.rows(), 16U) << "and it grows again from nothing";
}

TEST(RoomOf, LeavesWhatTheHoldingsDoNotTake) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({.rows = 8});
  holdings.Add(chunk);
  holdings.EnterFlight(*chunk);
  const lease::Room room = RoomOf(Limits(), holdings, 5);
  EXPECT_EQ(room.rows_max, 15U);
  EXPECT_EQ(room.rows_open, 8U);
  EXPECT_EQ(room.rows_left, 4 * 15U - 8U);
  EXPECT_EQ(room.rows_left_for_slots, 4 * 15U + 15U + 4U - 8U);
  EXPECT_EQ(room.slots_max, 10U);
  EXPECT_EQ(room.in_flight, 1U);
  EXPECT_EQ(FreeSlots(Limits(), holdings), 9U);
}

TEST(RoomOf, IsNeverNegativeWhereAChunkWentOverALimit) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({.rows = 200});
  holdings.Add(chunk);
  for (int i = 0; i < 12; ++i) holdings.EnterFlight(*chunk);
  const lease::Room room = RoomOf(Limits(), holdings, 0);
  EXPECT_EQ(room.rows_left, 0U);
  EXPECT_EQ(room.rows_left_for_slots, 0U);
  EXPECT_EQ(FreeSlots(Limits(), holdings), 0U);
}

TEST(RoomOf, G11_ARowThatIsNotLoadedCountsWithTheSizeThatItMayHave) {
  CheckHoldings holdings;
  EXPECT_EQ(RoomOf(Limits(1000), holdings, 90).rows_left, 10U);
  EXPECT_EQ(RoomOf(Limits(1000), holdings, 90).rows_left_for_slots, 14U);
  const ChunkPtr chunk = NewChunk({.rows = 1});
  chunk->bytes = 350;
  holdings.Add(chunk);
  EXPECT_EQ(RoomOf(Limits(1000), holdings, 90).rows_left, 6U) << "a loaded one with its own";
  EXPECT_EQ(RoomOf(Limits(1000), holdings, 90).rows_left_for_slots, 10U);
  EXPECT_EQ(RoomOf(Limits(200), holdings, 90).rows_left, 0U);
  EXPECT_EQ(RoomOf(Limits(200), holdings, 90).rows_left_for_slots, 2U)
      << "one chunk more may fill free slots";
  holdings.Remove(chunk);
  EXPECT_EQ(RoomOf(Limits(1000), holdings, 90).rows_left, 10U);
}

TEST(RoomOf, G11_SmallRowsAreBoundedByTheirNumber) {
  CheckHoldings holdings;
  holdings.Add(NewChunk({.rows = 10}));
  EXPECT_EQ(RoomOf(Limits(), holdings, 0).rows_left, 30U);
}

TEST(AskingOf, SaysWhatIsHeldOfEachOrganisationThatHasWorkDue) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({.org = 1, .monitor = 5, .rows = 3, .large = true});
  holdings.Add(chunk);
  holdings.EnterFlight(*chunk);
  const auto asking = AskingOf(
      {{Id(1), 7, Id(5)}, {Id(1), 7, Id(6)}, {Id(1), 7, std::nullopt}, {Id(2), 9, {}}}, holdings);
  ASSERT_EQ(asking.size(), 4U);
  EXPECT_EQ(asking[0].first_rows, 7U);
  EXPECT_EQ(asking[0].rows_open, 3U);
  EXPECT_EQ(asking[0].in_flight, 1U);
  EXPECT_FALSE(asking[0].newcomer) << "a chunk of the same large tick is held";
  EXPECT_TRUE(asking[1].newcomer);
  EXPECT_TRUE(asking[2].newcomer);
  EXPECT_EQ(asking[3].rows_open, 0U);
}

}  // namespace
}  // namespace vedette::worker
