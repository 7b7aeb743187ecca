#include "lease/rounds.h"

#include <gtest/gtest.h>

namespace vedette::lease {
namespace {

const base::Uuid kA = *base::Uuid::Parse("0a000000-0000-4000-8000-000000000000");
const base::Uuid kNil;

TEST(RoundsTest, WalksToTheEndHaveSeenAll) {
  Rounds rounds;
  EXPECT_EQ(rounds.Begin(), kNil);
  rounds.Walked(kA);
  EXPECT_TRUE(rounds.some_unseen());
  EXPECT_EQ(rounds.Begin(), kA);
  rounds.Walked(kNil);
  EXPECT_FALSE(rounds.some_unseen());
  EXPECT_EQ(rounds.Begin(), kNil);
}

TEST(RoundsTest, WhatBecomesDueBehindTheCursorIsSeenByAnotherRound) {
  Rounds rounds;
  rounds.Begin();
  rounds.Walked(kA);
  rounds.MayBeDue(Rounds::Walk::kNone);
  rounds.Begin();
  rounds.Walked(kNil);
  EXPECT_TRUE(rounds.some_unseen());
  rounds.Begin();
  rounds.Walked(kA);
  rounds.Begin();
  rounds.Walked(kNil);
  EXPECT_FALSE(rounds.some_unseen());
}

TEST(RoundsTest, WhatBecomesDueDuringAWalkIsSeenByAnotherRound) {
  Rounds rounds;
  rounds.MayBeDue(Rounds::Walk::kNone);  // the walk that begins now sees it
  rounds.Begin();
  rounds.MayBeDue(Rounds::Walk::kUnderWay);
  rounds.Walked(kNil);
  EXPECT_TRUE(rounds.some_unseen());
  rounds.Begin();
  rounds.Walked(kNil);
  EXPECT_FALSE(rounds.some_unseen());
}

TEST(RoundsTest, WhatAWalkLeftIsLeftUntilTheNextRoundBegins) {
  Rounds rounds;
  rounds.Begin();
  rounds.Walked(kA, Rounds::Left::kSome);
  EXPECT_TRUE(rounds.some_left());
  rounds.Begin();
  rounds.Walked(kNil, Rounds::Left::kNothing);
  EXPECT_TRUE(rounds.some_left()) << "the end of the round found nothing, its beginning did";
  EXPECT_FALSE(rounds.some_unseen());
  rounds.Begin();
  EXPECT_FALSE(rounds.some_left());
  rounds.Walked(kNil, Rounds::Left::kNothing);
  EXPECT_FALSE(rounds.some_left());
}

TEST(RoundsTest, AWalkOfWhichNothingCouldBeTakenIsRepeated) {
  Rounds rounds;
  rounds.Begin();
  rounds.Walked(kA);
  EXPECT_EQ(rounds.Begin(), kA);
  rounds.Repeat();
  EXPECT_TRUE(rounds.some_left());
  EXPECT_EQ(rounds.Begin(), kA);
}

}  // namespace
}  // namespace vedette::lease
