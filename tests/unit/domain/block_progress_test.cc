#include "domain/block_progress.h"

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
  EXPECT_EQ(PerMille(Block(3, 3, 2, 4), false), 666);
  EXPECT_EQ(PerMille(Block(100'000, 100'000, 99'999, 4), false), 999);
  EXPECT_EQ(PerMille(Block(3, 3, 3, 4), false), 999) << "its hook has not run";
  EXPECT_EQ(PerMille(Block(3, 3, 3, 4), true), 1000);
  EXPECT_EQ(PerMille(Block(0, 0, 0, 1), false), 0);
  EXPECT_EQ(PerMille(Block(0, 0, 0, 1), true), 1000);
  EXPECT_EQ(MeanPerMille({1000, 1000, 999}), 999);
  EXPECT_EQ(MeanPerMille({1000, 0}), 500);
  EXPECT_EQ(MeanPerMille({}), 0);
}

}  // namespace
}  // namespace vedette::domain
