#include "worker/checks/held_chunk.h"

#include <gtest/gtest.h>

#include "tests/unit/worker/checks/held_chunks.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kAgeMax{4};

class PauseWatchTest : public testing::Test {
 public:
  PauseWatchTest() {
    holdings.Add(chunk);
    holdings.Add(other);
  }

  CheckHoldings holdings;
  ChunkPtr chunk = NewChunk({.id = 1, .org = 1, .monitor = 11, .rows = 4, .first = 10});
  ChunkPtr other = NewChunk({.id = 2, .org = 2, .monitor = 12});
};

TEST_F(PauseWatchTest, G5_AChunkMayStartChecksUntilItsOwnClaimIsTooOld) {
  chunk->known_since = seconds(100);
  EXPECT_TRUE(chunk->Fresh(seconds(104) - milliseconds(1), kAgeMax));
  EXPECT_FALSE(chunk->Fresh(seconds(104), kAgeMax));
}

TEST_F(PauseWatchTest, G5_AReadCountsFromWhenItBegan) {
  chunk->known_since = seconds(100);
  ApplyControl({}, seconds(103), holdings);
  EXPECT_TRUE(chunk->Fresh(seconds(106), kAgeMax));
  EXPECT_FALSE(chunk->Fresh(seconds(107), kAgeMax));
  EXPECT_TRUE(other->Fresh(seconds(106), kAgeMax)) << "one read is about everything that is held";
}

TEST_F(PauseWatchTest, G5_APausedMonitorStopsItsPartsAlone) {
  ApplyControl({.monitors = {{Id(11), false}}}, seconds(1), holdings);
  EXPECT_FALSE(chunk->parts.front().MayRun());
  EXPECT_TRUE(other->parts.front().MayRun());
  ApplyControl({.monitors = {{Id(11), true}}}, seconds(2), holdings);
  EXPECT_TRUE(chunk->parts.front().MayRun());
}

TEST_F(PauseWatchTest, G5_ALockedOrganisationStopsAlsoWhereItsMonitorIsActive) {
  ApplyControl({.monitors = {{Id(11), true}}, .organisations = {{Id(1), false}}}, seconds(1),
               holdings);
  EXPECT_FALSE(chunk->parts.front().MayRun());
  EXPECT_TRUE(other->parts.front().MayRun());
}

TEST_F(PauseWatchTest, G5_ARowIsSwitchedByItsPosition) {
  ApplyControl(
      {.rows = {{Id(11), 9, false}, {Id(11), 12, false}, {Id(11), 14, false}, {Id(12), 12, false}}},
      seconds(1), holdings);
  const auto& rows = chunk->claimed.parts.front().rows;
  EXPECT_TRUE(rows[0].is_active);
  EXPECT_TRUE(rows[1].is_active);
  EXPECT_FALSE(rows[2].is_active) << "position 12 is the third from 10 on";
  EXPECT_TRUE(rows[3].is_active);
  EXPECT_TRUE(other->claimed.parts.front().rows[0].is_active);
}

}  // namespace
}  // namespace vedette::worker
