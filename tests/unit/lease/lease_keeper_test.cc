#include "lease/lease_keeper.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/unit/lease/lease_test.h"

namespace vedette::lease {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Leases = std::vector<store::Lease>;

class LeaseKeeperTest : public LeaseTest {
 public:
  void TearDown() override {
    OnLoop([this] { keeper_.reset(); });
    LeaseTest::TearDown();
  }

  void Make(milliseconds lease) {
    OnLoop([&] {
      keeper_.emplace(loop_, pool_, log_, lease,
                      LeaseKeeper::Hooks{
                          .renew =
                              [this](store::Session&, const Leases& leases, milliseconds) {
                                {
                                  const std::lock_guard lock(mutex_);
                                  renewals_.push_back(leases);
                                }
                                renew_gate_.Pass();
                                std::vector<base::Uuid> kept;
                                for (const store::Lease& l : leases) {
                                  if (!others_.contains(l.id)) kept.push_back(l.id);
                                }
                                return kept;
                              },
                          .give_back =
                              [this](store::Session&, const std::vector<store::GiveBack>& leases) {
                                {
                                  const std::lock_guard lock(mutex_);
                                  given_back_.emplace_back();
                                  for (const store::GiveBack& back : leases) {
                                    given_back_.back().push_back(back.lease);
                                    delays_.push_back(back.delay);
                                  }
                                }
                                back_gate_.Pass();
                                if (back_fails_) throw std::runtime_error("refused");
                              },
                          .lost = [this](const base::Uuid& id) { lost_.push_back(id); },
                          .offered = [this] { ++offered_; },
                          .given_back = [this] { ++ended_; },
                          .since_boot = [this] { return now_; }});
      for (int n = 1; n <= 3; ++n) keeper_->Hold({Id(n), Id(100 + n)});
    });
  }
  std::vector<Leases> renewals() {
    const std::lock_guard lock(mutex_);
    return renewals_;
  }
  std::vector<Leases> given_back() {
    const std::lock_guard lock(mutex_);
    return given_back_;
  }

  Gate renew_gate_;
  Gate back_gate_;
  std::set<base::Uuid> others_;  // leases that are another process's; set before Start
  bool back_fails_ = false;      // set before the first GiveBack
  std::vector<milliseconds>
      delays_;  // of what was given back, in its order; read when that is done
  // The loop's thread only.
  std::vector<base::Uuid> lost_;
  int ended_ = 0;
  int offered_ = 0;
  milliseconds now_{0};
  std::optional<LeaseKeeper> keeper_;

 private:
  std::mutex mutex_;
  std::vector<Leases> renewals_;
  std::vector<Leases> given_back_;
};

TEST_F(LeaseKeeperTest, RenewsEverythingHeldWithOneStatementAgainAndAgain) {
  renew_gate_.Open();
  Make(milliseconds(3));
  OnLoop([this] { keeper_->Start(); });
  Until([this] { return renewals().size() >= 3; }, "three renewals");
  EXPECT_EQ(renewals()[0], (Leases{{Id(1), Id(101)}, {Id(2), Id(102)}, {Id(3), Id(103)}}));
  EXPECT_TRUE(lost_.empty());
}

TEST_F(LeaseKeeperTest, AsksForNothingWhereNothingIsHeld) {
  renew_gate_.Open();
  Make(milliseconds(3));
  OnLoop([this] {
    for (int n = 1; n <= 3; ++n)
      EXPECT_EQ(keeper_->Drop(Id(n)), (store::Lease{Id(n), Id(100 + n)}));
    EXPECT_EQ(keeper_->Drop(Id(1)), std::nullopt);
    keeper_->Start();
  });
  OnLoop([] {});
  EXPECT_TRUE(renewals().empty());
  EXPECT_TRUE(keeper_->idle());
}

TEST_F(LeaseKeeperTest, TellsOnceWhichLeasesAreLostAndForgetsThem) {
  renew_gate_.Open();
  others_ = {Id(2)};
  Make(milliseconds(3));
  OnLoop([this] { keeper_->Start(); });
  Until([this] { return renewals().size() >= 3; }, "three renewals");
  EXPECT_EQ(lost_, std::vector<base::Uuid>{Id(2)});
  EXPECT_FALSE(keeper_->holds(Id(2)));
  EXPECT_EQ(renewals()[2], (Leases{{Id(1), Id(101)}, {Id(3), Id(103)}}));
}

TEST_F(LeaseKeeperTest, WhatIsDroppedOrClaimedAgainDuringARenewalIsNotLost) {
  others_ = {Id(1), Id(2), Id(3)};
  Make(hours(1));
  OnLoop([this] { keeper_->Start(); });
  Until([this] { return renewals().size() == 1; }, "the renewal is under way");
  OnLoop([this] {
    keeper_->Drop(Id(1));
    keeper_->Hold({Id(2), Id(202)});
  });
  renew_gate_.Open();
  Until([this] { return !lost_.empty(); }, "the renewal ends");
  EXPECT_EQ(lost_, std::vector<base::Uuid>{Id(3)});
  EXPECT_TRUE(keeper_->holds(Id(2)));
}

TEST_F(LeaseKeeperTest, ALeaseIsCertainForItsTimeFromBeforeItsTransactionOrItsRenewalOn) {
  others_ = {Id(3)};
  Make(hours(1));
  OnLoop([this] {
    keeper_->Hold({Id(2), Id(102)}, hours(-1));
    EXPECT_TRUE(keeper_->IsCertain(Id(1)));
    EXPECT_FALSE(keeper_->IsCertain(Id(2))) << "its transaction took as long as the lease";
    EXPECT_FALSE(keeper_->IsCertain(Id(9))) << "it is not held";
  });
  Until([this] { return renewals().size() == 1; }, "a renewal is under way, as it is overdue");
  OnLoop([this] { now_ = hours(1) - milliseconds(1); });
  renew_gate_.Open();
  Until([this] { return !lost_.empty(); }, "the renewal ends");
  OnLoop([this] {
    EXPECT_TRUE(keeper_->IsCertain(Id(1)));
    EXPECT_TRUE(keeper_->IsCertain(Id(2)));
    EXPECT_FALSE(keeper_->IsCertain(Id(3)));
    now_ = hours(1);
    EXPECT_FALSE(keeper_->IsCertain(Id(1))) << "it counts from when the renewal began";
  });
}

TEST_F(LeaseKeeperTest, GivesBackWithOneStatementWhatGathersMeanwhile) {
  Make(hours(1));
  OnLoop([this] { keeper_->GiveBack({Id(1), Id(9)}); });
  Until([this] { return given_back().size() == 1; }, "the first is being given back");
  OnLoop([this] {
    keeper_->GiveBack({Id(2)}, hours(1));
    keeper_->GiveBack({Id(3), Id(2)});
    EXPECT_EQ(keeper_->held(), 0U);
    EXPECT_FALSE(keeper_->idle());
  });
  back_gate_.Open();
  Until([this] { return keeper_->idle(); }, "everything is given back");
  EXPECT_EQ(given_back(),
            (std::vector<Leases>{{{Id(1), Id(101)}}, {{Id(2), Id(102)}, {Id(3), Id(103)}}}));
  EXPECT_EQ(delays_, (std::vector<milliseconds>{{}, hours(1), {}}));
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(offered_, 2) << "after each statement there is something that others may claim";
}

TEST_F(LeaseKeeperTest, WhatCouldNotBeGivenBackIsLeftToTheEndOfItsLease) {
  back_gate_.Open();
  back_fails_ = true;
  Make(hours(1));
  OnLoop([this] { keeper_->GiveBack({Id(1), Id(2), Id(3)}); });
  Until([this] { return ended_ == 1; }, "the statement ends");
  EXPECT_TRUE(keeper_->idle());
  EXPECT_EQ(given_back().size(), 1U);
  EXPECT_EQ(offered_, 0);
}

}  // namespace
}  // namespace vedette::lease
