#include "lease/rounds.h"

#include <gtest/gtest.h>

namespace vedette::lease {
namespace {

const base::Uuid kA = *base::Uuid::Parse("0a000000-0000-4000-8000-000000000000");
const base::Uuid kNil;

TEST(RoundsTest, ScansToTheEndHaveSeenAll) {
  Rounds rounds;
  EXPECT_EQ(rounds.Begin(), kNil);
  rounds.Scanned(kA);
  EXPECT_TRUE(rounds.some_unseen());
  EXPECT_EQ(rounds.Begin(), kA);
  rounds.Scanned(kNil);
  EXPECT_FALSE(rounds.some_unseen());
  EXPECT_EQ(rounds.Begin(), kNil);
}

TEST(RoundsTest, WhatBecomesDueBehindTheCursorIsSeenByAnotherRound) {
  Rounds rounds;
  rounds.Begin();
  rounds.Scanned(kA);
  rounds.MayBeDue(Rounds::Scan::kNone);
  rounds.Begin();
  rounds.Scanned(kNil);
  EXPECT_TRUE(rounds.some_unseen());
  rounds.Begin();
  rounds.Scanned(kA);
  rounds.Begin();
  rounds.Scanned(kNil);
  EXPECT_FALSE(rounds.some_unseen());
}

TEST(RoundsTest, WhatBecomesDueDuringAScanIsSeenByAnotherRound) {
  Rounds rounds;
  rounds.MayBeDue(Rounds::Scan::kNone);  // the scan that begins now sees it
  rounds.Begin();
  rounds.MayBeDue(Rounds::Scan::kUnderWay);
  rounds.Scanned(kNil);
  EXPECT_TRUE(rounds.some_unseen());
  rounds.Begin();
  rounds.Scanned(kNil);
  EXPECT_FALSE(rounds.some_unseen());
}

TEST(RoundsTest, WhatAScanLeftIsLeftUntilTheNextRoundBegins) {
  Rounds rounds;
  rounds.Begin();
  rounds.Scanned(kA, Rounds::Left::kSome);
  EXPECT_TRUE(rounds.some_left());
  rounds.Begin();
  rounds.Scanned(kNil, Rounds::Left::kNothing);
  EXPECT_TRUE(rounds.some_left()) << "the end of the round found nothing, its beginning did";
  EXPECT_FALSE(rounds.some_unseen());
  rounds.Begin();
  EXPECT_FALSE(rounds.some_left());
  rounds.Scanned(kNil, Rounds::Left::kNothing);
  EXPECT_FALSE(rounds.some_left());
}

TEST(RoundsTest, AScanOfWhichNothingCouldBeTakenIsRepeated) {
  Rounds rounds;
  rounds.Begin();
  rounds.Scanned(kA);
  EXPECT_EQ(rounds.Begin(), kA);
  rounds.Repeat();
  EXPECT_TRUE(rounds.some_left());
  EXPECT_EQ(rounds.Begin(), kA);
}

}  // namespace
}  // namespace vedette::lease
