#include "worker/checks/suspects.h"

#include <gtest/gtest.h>

#include <string>

#include "base/uuid.h"
#include "store/checks/chunks.h"
#include "worker/suspect_slot.h"

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
            PoisonStep::kCondemn);
}

class SuspectSlotTest : public testing::Test {
 public:
  using Try = SuspectSlot::Try;

  // `who` is its name and its address.
  void Enter(const char* who, Try how = Try::kAlone, const base::Uuid& org = {}) {
    slot.Enter(who, org, how, [this, who] { started += who; });
  }

  SuspectSlot slot;
  std::string started;
  const char* const a = "a";
  const char* const b = "b";
  const char* const c = "c";
};

TEST_F(SuspectSlotTest, OneIsTriedAloneAtATimeInTheOrderInWhichTheyAsked) {
  Enter(a);
  Enter(b);
  Enter(c);
  EXPECT_EQ(started, "a");
  slot.Leave(a);
  EXPECT_EQ(started, "ab");
  slot.Leave(b);
  EXPECT_EQ(started, "abc");
}

TEST_F(SuspectSlotTest, OneThatWaitsMayLeaveAndIsNotStarted) {
  Enter(a);
  Enter(b);
  Enter(c);
  slot.Leave(b);
  slot.Leave(a);
  EXPECT_EQ(started, "ac");
}

TEST_F(SuspectSlotTest, ALeaveOfOneThatIsNotThereFreesNothing) {
  Enter(a);
  slot.Leave(b);
  Enter(c);
  EXPECT_EQ(started, "a");
  slot.Leave(a);
  slot.Leave(a);
  EXPECT_EQ(started, "ac");
  Enter(b);
  EXPECT_EQ(started, "ac");
}

TEST_F(SuspectSlotTest, ATryThatEndsInsideItsStartGivesTheSlotToTheNext) {
  slot.Enter(a, {}, Try::kAlone, [this] {
    started += a;
    Enter(b);
    slot.Leave(a);
    started += '.';
  });
  EXPECT_EQ(started, "ab.");
}

TEST_F(SuspectSlotTest, NoneIsTriedAloneWhileOthersAreTriedOrWait) {
  Enter(a, Try::kBeside);
  Enter(b, Try::kAlone);
  Enter(c, Try::kBeside);
  EXPECT_EQ(started, "ac") << "a try alone would make suspects of those beside it";
  slot.Leave(a);
  EXPECT_EQ(started, "ac");
  slot.Leave(c);
  EXPECT_EQ(started, "acb");
  Enter(a, Try::kBeside);
  EXPECT_EQ(started, "acb");
  slot.Leave(b);
  EXPECT_EQ(started, "acba");
}

TEST_F(SuspectSlotTest, G10_AFewAreTriedBesideEachOtherAndOrganisationsTakeTurns) {
  const base::Uuid crowd = base::Uuid::V4();
  const base::Uuid neighbour = base::Uuid::V4();
  const std::string names(SuspectSlot::kBesideMax + 3, 'x');
  for (const char& one : names) {
    slot.Enter(&one, crowd, Try::kBeside, [this] { started += 'x'; });
  }
  Enter(b, Try::kBeside, neighbour);
  EXPECT_EQ(started, std::string(SuspectSlot::kBesideMax, 'x'));
  slot.Leave(&names[0]);
  slot.Leave(&names[1]);
  EXPECT_EQ(started, std::string(SuspectSlot::kBesideMax, 'x') + "xb");
}

}  // namespace
}  // namespace vedette::worker
