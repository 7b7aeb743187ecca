#include "lease/suspect_slot.h"

#include <gtest/gtest.h>

#include <string>

#include "base/uuid.h"

namespace vedette::lease {
namespace {

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
  Enter(a, Try::kWithOthers);
  Enter(b, Try::kAlone);
  Enter(c, Try::kWithOthers);
  EXPECT_EQ(started, "ac") << "a try alone would make suspects of those beside it";
  slot.Leave(a);
  EXPECT_EQ(started, "ac");
  slot.Leave(c);
  EXPECT_EQ(started, "acb");
  Enter(a, Try::kWithOthers);
  EXPECT_EQ(started, "acb");
  slot.Leave(b);
  EXPECT_EQ(started, "acba");
}

TEST_F(SuspectSlotTest, G10_AFewAreTriedBesideEachOtherAndOrganisationsTakeTurns) {
  const base::Uuid crowd = base::Uuid::V4();
  const base::Uuid neighbour = base::Uuid::V4();
  const std::string names(SuspectSlot::kWithOthersMax + 3, 'x');
  for (const char& one : names) {
    slot.Enter(&one, crowd, Try::kWithOthers, [this] { started += 'x'; });
  }
  Enter(b, Try::kWithOthers, neighbour);
  EXPECT_EQ(started, std::string(SuspectSlot::kWithOthersMax, 'x'));
  slot.Leave(&names[0]);
  slot.Leave(&names[1]);
  EXPECT_EQ(started, std::string(SuspectSlot::kWithOthersMax, 'x') + "xb");
}

}  // namespace
}  // namespace vedette::lease
