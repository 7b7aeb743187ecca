#include "domain/job/block_progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace vedette::domain {
namespace {

BlockProgress Block(int total, int opened, int done, int window, std::optional<int> input = 0) {
  return {input, total, opened, done, window};
}

TEST(BlockProgress, ASourceOpensAsManyPartsAsItsWindowHasRoomFor) {
  EXPECT_EQ(PartsToOpen(Block(10, 0, 0, 4, std::nullopt), {}), 4);
  EXPECT_EQ(PartsToOpen(Block(10, 4, 1, 4, std::nullopt), {}), 1);
  EXPECT_EQ(PartsToOpen(Block(10, 9, 9, 4, std::nullopt), {}), 1);
  EXPECT_EQ(PartsToOpen(Block(10, 10, 9, 4, std::nullopt), {}), 0);
}

TEST(BlockProgress, PartsOpenInOrderUpToTheFirstThatTheInputHasNotMade) {
  EXPECT_EQ(PartsToOpen(Block(10, 0, 0, 4), {}), 0);
  EXPECT_EQ(PartsToOpen(Block(10, 0, 0, 4), {1, 2, 3}), 0);
  EXPECT_EQ(PartsToOpen(Block(10, 0, 0, 4), {0, 1, 3}), 2);
  EXPECT_EQ(PartsToOpen(Block(10, 2, 2, 4), {0, 1, 2, 3, 5}), 2);
  EXPECT_EQ(PartsToOpen(Block(10, 2, 2, 1), {0, 1, 2, 3, 5}), 1);
}

TEST(BlockProgress, AFullWindowOpensNothing) {
  EXPECT_EQ(PartsToOpen(Block(10, 4, 0, 4), {0, 1, 2, 3, 4, 5}), 0);
  EXPECT_EQ(PartsToOpen(Block(10, 4, 0, 2), {0, 1, 2, 3, 4, 5}), 0) << "a window that was larger";
}

TEST(BlockProgress, AShareIsWholeOnlyWhereEverythingIsDone) {
  const auto of = [](std::optional<std::int64_t> rows_total, std::int64_t rows_done, int parts_done,
                     bool completed) {
    BlockRows block;
    block.rows_total = rows_total;
    block.rows_done = rows_done;
    block.parts_total = 3;
    block.parts_done = parts_done;
    block.completed = completed;
    return PerMille({block}).front();
  };
  EXPECT_EQ(of(300, 200, 1, false), 666);
  EXPECT_EQ(of(100'000, 99'999, 2, false), 999);
  EXPECT_EQ(of(300, 300, 3, false), 999) << "its hook has not run";
  EXPECT_EQ(of(300, 300, 3, true), 1000);
  EXPECT_EQ(of(std::nullopt, 200, 2, false), 666) << "of how many rows is not known";
  EXPECT_EQ(of(0, 0, 0, false), 0);
  EXPECT_EQ(of(0, 0, 0, true), 1000);
  EXPECT_EQ(MeanPerMille({1000, 1000, 999}), 999);
  EXPECT_EQ(MeanPerMille({1000, 0}), 500);
  EXPECT_EQ(MeanPerMille({}), 0);
}

// A source of 200 rows, a filter, and a block that has done some of what came through.
TEST(BlockProgress, ItIsCountedByRowsAndNeverFallsWhileOthersAreDropped) {
  std::vector<BlockRows> blocks(3);
  blocks[0].rows_total = blocks[0].rows_done = blocks[0].rows_out = 200;
  blocks[0].completed = true;
  blocks[1].input = 0;
  blocks[1].drops_rows = true;
  blocks[2].input = 1;
  for (BlockRows& block : blocks) block.parts_total = 50;
  EXPECT_EQ(PerMille(blocks), (std::vector{1000, 0, 0}));
  blocks[1].rows_done = 100;
  blocks[1].rows_out = 60;
  blocks[2].rows_done = 40;  // each in a part of which other rows wait
  EXPECT_EQ(PerMille(blocks), (std::vector{1000, 500, 250}));
  blocks[1].rows_done = 200;
  blocks[1].rows_out = 80;
  EXPECT_EQ(PerMille(blocks), (std::vector{1000, 999, 500}));
  blocks[2].input = 0;
  EXPECT_EQ(PerMille(blocks)[2], 200) << "nothing is dropped before it";
}

}  // namespace
}  // namespace vedette::domain
