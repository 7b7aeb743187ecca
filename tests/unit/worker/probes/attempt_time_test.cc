#include "worker/probes/llm_probe.h"

#include <gtest/gtest.h>

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;

TEST(AttemptTime, WaitsForRoomAndForTurnsAreNoTimeOfIt) {
  AttemptTime time(100s, 1000ms);
  EXPECT_EQ(time.Left(100s), 1000ms);
  time.WaitedForRoom(300ms);
  EXPECT_EQ(time.Left(100s), 1300ms);
  EXPECT_EQ(time.WaitedForTurn(200ms), 500ms) << "the wait for room is told with the turn";
  EXPECT_EQ(time.Left(100s), 1500ms);
  EXPECT_EQ(time.WaitedForTurn(50ms), 50ms) << "once";
}

TEST(AttemptTime, ATimeoutIsAtLeastAMillisecond) {
  const AttemptTime time(100s, 1000ms);
  EXPECT_EQ(time.Timeout(100s), 1000ms);
  EXPECT_EQ(time.Left(102s), -1000ms);
  EXPECT_EQ(time.Timeout(102s), 1ms);
}

TEST(AttemptTime, ATurnIsTheRequestsToRefuse) {
  ProbeRequest willing;
  const auto all = MeasureTurns(&willing, 1000ms, 100s);
  EXPECT_TRUE(willing.on_turn(10ms)) << "nobody is asked";
  EXPECT_EQ(all->Left(100s), 1010ms);

  std::chrono::milliseconds told{};
  ProbeRequest request;
  request.on_turn = [&](std::chrono::milliseconds waited) {
    told = waited;
    return false;
  };
  const auto time = MeasureTurns(&request, 1000ms, 100s);
  EXPECT_FALSE(request.on_turn(10ms));
  EXPECT_EQ(told, 10ms);
  EXPECT_EQ(time->Left(100s), 1010ms);
}

TEST(AttemptTime, TurnsOfAnotherProbesRequestCountToo) {
  ProbeRequest request;
  std::chrono::milliseconds told{};
  request.on_turn = [&](std::chrono::milliseconds waited) {
    told = waited;
    return true;
  };
  const auto time = MeasureTurns(&request, 1000ms, 100s);
  EXPECT_TRUE(request.on_turn(70ms));
  EXPECT_EQ(told, 70ms);
  EXPECT_EQ(time->Left(100s), 1070ms);
}

TEST(AttemptTimeDeathTest, AWaitIsNeverShorterThanNothing) {
  AttemptTime time(100s, 1000ms);
  EXPECT_DEATH(time.WaitedForTurn(-1ms), "never shorter");
}

}  // namespace
}  // namespace vedette::worker
