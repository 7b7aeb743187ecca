#include "lease/drain.h"

#include <optional>

#include "tests/unit/lease/lease_test.h"

namespace vedette::lease {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class DrainTest : public LeaseTest {
 public:
  void TearDown() override {
    OnLoop([this] { drain_.reset(); });
    LeaseTest::TearDown();
  }

  void Make(milliseconds time_max, milliseconds grace) {
    OnLoop([&] {
      drain_.emplace(loop_, time_max,
                     Drain::Hooks{.idle = [this] { return idle_; },
                                  .overdue = [this] { ++overdue_; },
                                  .abandon = [this] { ++abandoned_; }},
                     grace);
    });
  }
  void Begin() {
    OnLoop([this] { drain_->Begin([this] { ++done_; }); });
  }

  // The loop's thread only.
  bool idle_ = false;
  int overdue_ = 0;
  int abandoned_ = 0;
  int done_ = 0;
  std::optional<Drain> drain_;
};

TEST_F(DrainTest, WhereNothingIsHeldItEndsAtOnce) {
  idle_ = true;
  Make(hours(1), hours(1));
  OnLoop([this] { drain_->Check(); });
  EXPECT_EQ(done_, 0) << "not begun";
  Begin();
  Until([this] { return done_ == 1; }, "the drain ends");
}

TEST_F(DrainTest, EndsWithWhatIsHeldAndOnlyOnce) {
  Make(hours(1), hours(1));
  Begin();
  OnLoop([this] { drain_->Check(); });
  EXPECT_EQ(done_, 0);
  OnLoop([this] {
    idle_ = true;
    drain_->Check();
    drain_->Check();
  });
  OnLoop([] {});
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(overdue_ + abandoned_, 0);
}

TEST_F(DrainTest, OutOfTimeItGivesBackWhatIsInFlightAndWaitsForThat) {
  Make(milliseconds(1), hours(1));
  Begin();
  Until([this] { return overdue_ == 1; }, "the time is over");
  EXPECT_EQ(done_, 0);
  OnLoop([this] {
    idle_ = true;
    drain_->Check();
  });
  Until([this] { return done_ == 1; }, "the drain ends");
  EXPECT_EQ(abandoned_, 0);
}

TEST_F(DrainTest, EndsWithoutTheDatabaseToo) {
  Make(milliseconds(1), milliseconds(1));
  Begin();
  Until([this] { return done_ == 1; }, "the drain ends");
  EXPECT_EQ(overdue_, 1);
  EXPECT_EQ(abandoned_, 1);
}

}  // namespace
}  // namespace vedette::lease
