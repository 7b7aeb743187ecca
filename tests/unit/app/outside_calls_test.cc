#include "app/outside_calls.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "config/parts.h"
#include "tests/unit/net/support.h"

namespace vedette::app {
namespace {

using Place = OutsideCalls::Place;

class OutsideCallsTest : public testing::Test {
 protected:
  OutsideCallsTest() {
    const config::Config config = config::LoadConfig(std::nullopt, config::Environment());
    loop_.Run(
        [&] { calls_ = std::make_unique<OutsideCalls>(loop_.loop, config.net, /*calls_max=*/1); });
  }
  ~OutsideCallsTest() override {
    loop_.Run([this] { calls_.reset(); });
  }

  Place Begin(const base::Uuid& org_id) {
    std::promise<Place> place;
    calls_->Begin(org_id, [&](Place taken) { place.set_value(taken); });
    return place.get_future().get();
  }
  void End(const base::Uuid& org_id) {
    loop_.Run([&] { calls_->End(org_id); });
  }

  const base::Uuid one_ = base::Uuid::V4();
  const base::Uuid other_ = base::Uuid::V4();
  net::test::LoopThread loop_;
  std::unique_ptr<OutsideCalls> calls_;
};

TEST_F(OutsideCallsTest, WhatIsOverAShareIsRefusedWithWhoseItIs) {
  EXPECT_EQ(Begin(one_), Place::kTaken);
  EXPECT_EQ(Begin(one_), Place::kOrganisationsTaken);
  EXPECT_EQ(Begin(other_), Place::kAllTaken);
}

TEST_F(OutsideCallsTest, APlaceIsThereAgainOnceItsCallHasEnded) {
  EXPECT_EQ(Begin(one_), Place::kTaken);
  End(one_);
  EXPECT_EQ(Begin(other_), Place::kTaken);
  End(other_);
  EXPECT_EQ(Begin(one_), Place::kTaken);
  End(one_);
}

}  // namespace
}  // namespace vedette::app
