#include <gtest/gtest.h>

#include <string>

#include "tests/unit/worker/checks/held_chunks.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {
namespace {

TEST(Holdings, CountsRowsOfWhatIsHeldInAllAndOfEachOrganisation) {
  CheckHoldings holdings;
  holdings.Add(NewChunk({.id = 1, .org = 1, .rows = 3}));
  holdings.Add(NewChunk({.id = 2, .org = 1, .rows = 2}));
  const ChunkPtr other = NewChunk({.id = 3, .org = 2, .rows = 4});
  holdings.Add(other);
  EXPECT_EQ(holdings.InLane().rows, 9U);
  EXPECT_EQ(holdings.InLane().rows_open, 9U);
  EXPECT_EQ(holdings.InLane().bytes, 9 * other->bytes / 4);
  EXPECT_EQ(holdings.organisations(), 2U);
  EXPECT_EQ(holdings.FindOrg(Id(1))->rows_open, 5U);
  EXPECT_EQ(holdings.FindOrg(Id(1))->chunks, 2U);

  holdings.CloseRow(*other);
  EXPECT_EQ(holdings.InLane().rows, 9U)
      << "a row with an outcome is held until its chunk is recorded";
  EXPECT_EQ(holdings.InLane().rows_open, 8U);
  EXPECT_EQ(holdings.FindOrg(Id(2))->rows_open, 3U);

  EXPECT_TRUE(holdings.Remove(other));
  EXPECT_TRUE(other->Lost());
  EXPECT_EQ(holdings.InLane().rows, 5U);
  EXPECT_EQ(holdings.InLane().rows_open, 5U);
  EXPECT_EQ(holdings.FindOrg(Id(2)), nullptr);
  EXPECT_EQ(holdings.Find(Id(3)), nullptr);
}

TEST(Holdings, AChunkIsRemovedOnceAndNotInThePlaceOfTheOneThatCameBack) {
  CheckHoldings holdings;
  const ChunkPtr former = NewChunk({.id = 1, .rows = 2});
  holdings.Add(former);
  EXPECT_TRUE(holdings.Remove(former));
  const ChunkPtr again = NewChunk({.id = 1, .rows = 2});
  holdings.Add(again);
  EXPECT_FALSE(holdings.Remove(former));
  EXPECT_EQ(holdings.Find(Id(1)), again);
  EXPECT_EQ(holdings.InLane().rows, 2U);
}

TEST(Holdings, ACheckStaysCountedWhenItsChunkIsHeldNoMore) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({.id = 1, .org = 7, .rows = 2});
  holdings.Add(chunk);
  holdings.EnterFlight(*chunk);
  holdings.EnterFlight(*chunk);
  holdings.Remove(chunk);
  EXPECT_EQ(holdings.InLane().rows_open, 0U);
  EXPECT_EQ(holdings.InLane().in_flight, 2U);
  EXPECT_EQ(holdings.FindOrg(Id(7))->in_flight, 2U) << "its share of the slots is still taken";
  holdings.LeaveFlight(*chunk);
  holdings.LeaveFlight(*chunk);
  EXPECT_EQ(holdings.InLane().in_flight, 0U);
  EXPECT_EQ(holdings.organisations(), 0U);
}

TEST(Holdings, AChunkOfALargeTickIsAloneUntilAnotherOfItsMonitorIsHeld) {
  CheckHoldings holdings;
  const ChunkPtr first = NewChunk({.id = 1, .monitor = 5, .large = true});
  holdings.Add(first);
  EXPECT_TRUE(first->AloneOfItsFlow());
  const ChunkPtr second = NewChunk({.id = 2, .monitor = 5, .first = 1, .large = true});
  const ChunkPtr small = NewChunk({.id = 3, .monitor = 6});
  holdings.Add(second);
  holdings.Add(small);
  EXPECT_FALSE(second->AloneOfItsFlow());
  EXPECT_TRUE(small->AloneOfItsFlow());
  EXPECT_EQ(holdings.FindOrg(Id(1))->large_chunks.at(Id(5)), 2U);
  holdings.Remove(first);
  EXPECT_TRUE(second->AloneOfItsFlow());
  holdings.Remove(second);
  EXPECT_TRUE(holdings.FindOrg(Id(1))->large_chunks.empty());
}

TEST(HoldingsDeathTest, ACountThatWouldGoBelowZeroEndsTheProcess) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({.rows = 1});
  holdings.Add(chunk);
  holdings.CloseRow(*chunk);
  EXPECT_DEATH(holdings.CloseRow(*chunk), "No more rows of a chunk end than it has");
  EXPECT_DEATH(holdings.LeaveFlight(*chunk), "No more rows of a chunk leave than are in flight");
  EXPECT_DEATH(holdings.EnterFlight(*chunk), "A row in flight has no end yet");
  EXPECT_DEATH(holdings.Add(chunk), "A chunk is held once");
}

TEST(HeldChunkDeathTest, APhaseIsEnteredOnlyFromThePhaseBeforeIt) {
  const ChunkPtr chunk = NewChunk({});
  EXPECT_DEATH(chunk->Enter(HeldChunk::Phase::kAbandoned), "only from one before it");
  chunk->Enter(HeldChunk::Phase::kGivingBack);
  EXPECT_DEATH(chunk->Enter(HeldChunk::Phase::kWorking), "only from one before it");
  chunk->Enter(HeldChunk::Phase::kLost);
  EXPECT_DEATH(chunk->Enter(HeldChunk::Phase::kLost), "only from one before it");
  EXPECT_DEATH(chunk->Enter(HeldChunk::Recording::kNone), "at most one record");
}

TEST(HeldChunk, HasTheRowsAndTheLiveStateOfItsClaim) {
  const ChunkPtr chunk = NewChunk({.rows = 3});
  EXPECT_EQ(chunk->row_count, 3U);
  EXPECT_EQ(chunk->bytes,
            3 * (std::string("{\"n\": 0}").size() + std::string("{\"price\": \"1\"}").size()));
  EXPECT_EQ(chunk->rows_open, 3U);
  EXPECT_EQ(chunk->parts.front().outcomes, std::string(3, '\0'));
  EXPECT_TRUE(chunk->parts.front().MayRun());
  EXPECT_FALSE(chunk->AllStarted());
  EXPECT_FALSE(chunk->Finished());
  chunk->next = {0, 3};
  EXPECT_TRUE(chunk->AllStarted());
}

TEST(HeldChunk, AnAbandonedChunkIsQuietAlsoWithAnOpenCheck) {
  CheckHoldings holdings;
  const ChunkPtr chunk = NewChunk({});
  holdings.Add(chunk);
  holdings.EnterFlight(*chunk);
  chunk->Enter(HeldChunk::Phase::kGivingBack);
  EXPECT_FALSE(chunk->Quiet());
  chunk->Enter(HeldChunk::Phase::kAbandoned);
  EXPECT_TRUE(chunk->Quiet());
  EXPECT_TRUE(chunk->Leaving());
}

}  // namespace
}  // namespace vedette::worker
