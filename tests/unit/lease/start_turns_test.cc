#include "lease/start_turns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/support/ids.h"

namespace vedette::lease {
namespace {

using vedette::test::Id;

struct Chunk {
  char name;
  int rows;
  bool operator==(const Chunk&) const = default;
};
using Turns = StartTurns<Chunk*>;

// Starts up to `n` checks; the names of their chunks, in order.
std::string Start(Turns* turns, int n, bool others_may = true, bool newcomers_may = true) {
  std::string names;
  for (int i = 0; i < n; ++i) {
    auto turn =
        turns->Next([&](Chunk*, bool newcomer) { return newcomer ? newcomers_may : others_may; });
    if (!turn) break;
    Chunk* chunk = turn->item();
    names += chunk->name;
    turns->Took(*turn);
    if (--chunk->rows == 0) turns->Drop(*turn);
  }
  return names;
}

TEST(StartTurns, G10_OrganisationsTakeTurnsWhateverTheyHold) {
  Turns turns;
  Chunk a{'a', 3}, b{'b', 3}, c{'c', 2};
  turns.Push(Id(1), Id(11), true, &a);
  turns.Push(Id(1), Id(12), true, &b);
  turns.Push(Id(2), Id(13), true, &c);
  EXPECT_EQ(Start(&turns, 4), "acac");
  EXPECT_EQ(Start(&turns, 9), "babb") << "alone after that";
  EXPECT_TRUE(turns.empty());
}

TEST(StartTurns, G10_InsideOneMonitorsTakeTurnsNotChunks) {
  Turns turns;
  Chunk a{'a', 9}, b{'b', 9}, c{'c', 9}, x{'x', 9};
  turns.Push(Id(1), Id(11), true, &a);
  turns.Push(Id(1), Id(11), true, &b);
  turns.Push(Id(1), Id(11), true, &c);
  turns.Push(Id(1), Id(12), true, &x);
  const std::string names = Start(&turns, 12);
  std::map<char, int> started;
  for (const char name : names) ++started[name];
  EXPECT_GE(started['x'], 5) << names;
  EXPECT_GE(started['a'], 2) << names;
  EXPECT_GE(started['b'], 2) << names;
  EXPECT_GE(started['c'], 2) << names;
}

TEST(StartTurns, G10_ANewcomerComesNextHoweverManyWait) {
  Turns turns;
  Chunk large[20];
  for (Chunk& chunk : large) {
    chunk = {'.', 256};
    turns.Push(Id(1), Id(11), true, &chunk);
  }
  Start(&turns, 100);
  Chunk one{'1', 1};
  turns.Push(Id(1), Id(12), true, &one);
  EXPECT_NE(Start(&turns, 2).find('1'), std::string::npos);
}

TEST(StartTurns, NewcomersAndTheOthersGoAlternately) {
  Turns turns;
  Chunk old{'o', 10};
  turns.Push(Id(1), Id(11), false, &old);
  Chunk small[10];
  for (int i = 0; i < 10; ++i) {
    small[i] = {'n', 1};
    turns.Push(Id(1), Id(20 + i), true, &small[i]);
  }
  EXPECT_EQ(Start(&turns, 8), "nononono");
}

TEST(StartTurns, WhereOnlyNewcomersMayTheOthersKeepTheirPlace) {
  Turns turns;
  Chunk old{'o', 2}, fresh{'n', 2};
  turns.Push(Id(1), Id(11), false, &old);
  turns.Push(Id(1), Id(12), true, &fresh);
  EXPECT_EQ(Start(&turns, 3, false, true), "n") << "a newcomer until its first start";
  EXPECT_EQ(Start(&turns, 3, false, false), "");
  EXPECT_EQ(Start(&turns, 9), "ono");
}

TEST(StartTurns, AChunkOfAFlowThatIsThereJoinsIt) {
  Turns turns;
  Chunk a{'a', 1}, b{'b', 1};
  turns.Push(Id(1), Id(11), false, &a);
  turns.Push(Id(1), Id(11), true, &b);
  EXPECT_EQ(Start(&turns, 9, false, true), "") << "not a newcomer by its second chunk";
  EXPECT_EQ(Start(&turns, 9), "ab");
}

TEST(StartTurns, WhatIsDroppedWithoutAStartIsGone) {
  Turns turns;
  Chunk a{'a', 1}, b{'b', 1};
  turns.Push(Id(1), Id(11), true, &a);
  turns.Push(Id(1), Id(11), true, &b);
  auto turn = turns.Next([](Chunk*, bool) { return true; });
  ASSERT_TRUE(turn);
  turns.Drop(*turn);
  int left = 0;
  turns.ForEach([&left](Chunk*) { ++left; });
  EXPECT_EQ(left, 1);
  EXPECT_EQ(Start(&turns, 9), "b");
  EXPECT_TRUE(turns.empty());
  turns.Push(Id(1), Id(11), true, &a);
  turns.Clear();
  EXPECT_TRUE(turns.empty());
}

}  // namespace
}  // namespace vedette::lease
