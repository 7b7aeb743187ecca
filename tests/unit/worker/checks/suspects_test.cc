#include "worker/checks/check_suspects.h"

#include <gtest/gtest.h>

#include "store/checks/chunks.h"

namespace vedette::worker {
namespace {

constexpr int kClaimsMax = 3;
constexpr bool kCounted = true;

TEST(PoisonStep, AChunkIsOrdinaryUntilItsWorkersDiedOftenEnough) {
  EXPECT_EQ(PoisonStepOf(1, kCounted, 100, kClaimsMax), PoisonStep::kNone);
  EXPECT_EQ(PoisonStepOf(kClaimsMax, kCounted, 100, kClaimsMax), PoisonStep::kNone);
  EXPECT_EQ(PoisonStepOf(kClaimsMax + 1, kCounted, 0, kClaimsMax), PoisonStep::kNone)
      << "only its end is left to be recorded";
}

TEST(PoisonStep, G10_AClaimThatIsNotCountedYetIsTriedWithCareBeforeItsRowIsTriedAlone) {
  EXPECT_EQ(PoisonStepOf(kClaimsMax, !kCounted, 1, kClaimsMax), PoisonStep::kCareful);
  EXPECT_EQ(PoisonStepOf(kClaimsMax + 1, !kCounted, 1, kClaimsMax), PoisonStep::kLastTry);
  EXPECT_EQ(PoisonStepOf(kClaimsMax, !kCounted, 0, kClaimsMax), PoisonStep::kNone);
}

TEST(PoisonStep, TheFirstClaimOfAChunkIsCountedHoweverFewAreAllowed) {
  EXPECT_EQ(CarefulFrom(1), 2);
  EXPECT_EQ(CarefulFrom(kClaimsMax), kClaimsMax);
}

TEST(PoisonStep, SeveralRowsAreHalvedAndOneRowIsTriedAlone) {
  EXPECT_EQ(PoisonStepOf(kClaimsMax + 1, kCounted, 2, kClaimsMax), PoisonStep::kHalve);
  EXPECT_EQ(PoisonStepOf(kClaimsMax + 1, kCounted, 1, kClaimsMax), PoisonStep::kLastTry);
}

TEST(PoisonStep, G10_ARowHasAsManyLastTriesAsAChunkHasClaims) {
  for (int tries = 0; tries < kClaimsMax; ++tries) {
    EXPECT_EQ(PoisonStepOf(store::kLastTryClaims + tries, !kCounted, 1, kClaimsMax),
              PoisonStep::kLastTry);
  }
  EXPECT_EQ(PoisonStepOf(store::kLastTryClaims + kClaimsMax, !kCounted, 1, kClaimsMax),
            PoisonStep::kQuarantine);
}

}  // namespace
}  // namespace vedette::worker
