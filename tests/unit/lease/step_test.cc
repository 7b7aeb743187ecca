#include "lease/step.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/lease/lease_test.h"

namespace vedette::lease {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class StepTest : public LeaseTest {
 public:
  void TearDown() override {
    OnLoop([this] { step_.reset(); });
    LeaseTest::TearDown();
  }

  // A step whose runs are counted: `job` on the pool, `finish` on the loop.
  void Make(
      milliseconds poll, std::function<int()> job,
      std::function<Step<int>::Then(int)> finish = [](int) { return kAtPoll; }) {
    OnLoop([&] {
      step_.emplace(loop_, pool_, log_, StepOptions{.failed = "a test's step failed", .poll = poll},
                    Step<int>::Hooks{.begin = [this, job]() -> Step<int>::Job {
                                       if (!has_work_) return nullptr;
                                       ++begun_;
                                       return [job](store::Session&) { return job(); };
                                     },
                                     .finish =
                                         [this, finish](int result) {
                                           results_.push_back(result);
                                           return finish(result);
                                         },
                                     .failed = [this](const store::Failure&) { ++failed_; },
                                     .rested = [this] { ++rested_; }});
    });
  }
  void Wake() {
    OnLoop([this] { step_->Wake(); });
  }
  void UntilResting() {
    Until([this] { return !step_->running(); }, "the step rests");
  }

  std::atomic<int> tries_ = 0;
  // The loop's thread only.
  bool has_work_ = true;
  int begun_ = 0;
  int failed_ = 0;
  int rested_ = 0;
  std::vector<int> results_;
  std::optional<Step<int>> step_;
};

TEST_F(StepTest, WakesDuringARunAreCoalescedIntoOneMore) {
  Gate gate;
  Make(hours(1), [&] {
    gate.Pass();
    return 1;
  });
  Wake();
  for (int i = 0; i < 10; ++i) Wake();
  EXPECT_EQ(begun_, 1) << "one run at a time";
  gate.Open();
  UntilResting();
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(rested_, 1) << "it did not rest between the two";
}

TEST_F(StepTest, PollsWhereNobodyWakesIt) {
  Make(milliseconds(1), [] { return 1; });
  OnLoop([this] { step_->Start(); });
  Until([this] { return begun_ >= 3; }, "three polls");
}

TEST_F(StepTest, WithoutAPollOnlyWakesMakeItRun) {
  Make(milliseconds(0), [] { return 1; });
  Wake();
  UntilResting();
  Wake();
  UntilResting();
  EXPECT_EQ(begun_, 2);
}

TEST_F(StepTest, TheResultSaysWhenTheNextRunBegins) {
  Make(
      hours(1), [] { return 1; },
      [this](int) -> Step<int>::Then {
        if (results_.size() == 1) return kAtOnce;
        if (results_.size() == 2) return milliseconds(1);
        return kAtPoll;
      });
  Wake();
  Until([this] { return results_.size() == 3; }, "three runs");
  UntilResting();
  EXPECT_EQ(begun_, 3);
}

TEST_F(StepTest, AFailureIsToldAndThePollGoesOn) {
  Make(milliseconds(1), [&]() -> int {
    if (++tries_ == 1) throw std::runtime_error("refused");
    if (tries_ == 2) throw store::Unavailable("away");
    return 1;
  });
  Wake();
  Until([this] { return !results_.empty(); }, "a run that succeeds");
  EXPECT_EQ(failed_, 2);
}

TEST_F(StepTest, AWakeDuringARunThatFailsIsNotLost) {
  Gate gate;
  Make(milliseconds(0), [&]() -> int {
    gate.Pass();
    if (++tries_ == 1) throw store::Unavailable("away");
    return 1;
  });
  Wake();
  Wake();
  gate.Open();
  Until([this] { return results_.size() == 1; }, "the run that the wake asked for");
}

TEST_F(StepTest, AFurtherJobBelongsToTheSameRun) {
  Make(
      hours(1), [] { return 1; },
      [](int result) -> Step<int>::Then {
        if (result == 1) return Step<int>::Job([](store::Session&) { return 2; });
        return kAtPoll;
      });
  Wake();
  UntilResting();
  EXPECT_EQ(results_, (std::vector<int>{1, 2}));
  EXPECT_EQ(begun_, 1);
}

TEST_F(StepTest, RestsWhereThereIsNothingToDo) {
  has_work_ = false;
  Make(hours(1), [] { return 1; });
  Wake();
  EXPECT_FALSE(step_->running());
  has_work_ = true;
  Wake();
  UntilResting();
  EXPECT_EQ(begun_, 1);
}

TEST_F(StepTest, ADrainWaitsForTheRunUnderWayAndBeginsNoOther) {
  Gate gate;
  Make(
      milliseconds(1),
      [&] {
        gate.Pass();
        return 1;
      },
      [](int) -> Step<int>::Then { return Step<int>::Job([](store::Session&) { return 2; }); });
  bool drained = false;
  Wake();
  OnLoop([&] { step_->Drain([&] { drained = true; }); });
  Wake();
  OnLoop([] {});
  EXPECT_FALSE(drained);
  gate.Open();
  Until([&] { return drained; }, "the drain ends");
  EXPECT_EQ(results_, std::vector<int>{1}) << "the further job is not begun";
  EXPECT_EQ(begun_, 1);
  EXPECT_FALSE(step_->running());
}

TEST_F(StepTest, ADrainOfARestingStepEndsAtOnce) {
  Make(milliseconds(1), [] { return 1; });
  bool drained = false;
  OnLoop([&] { step_->Drain([&] { drained = true; }); });
  Until([&] { return drained; }, "the drain ends");
  EXPECT_EQ(begun_, 0);
}

TEST_F(StepTest, ResultsReachALiveOwnerOnly) {
  Gate gate;
  Make(hours(1), [&] {
    gate.Pass();
    return 1;
  });
  Wake();
  OnLoop([this] { step_.reset(); });
  gate.Open();
  FinishJobs();
  EXPECT_TRUE(results_.empty());
}

}  // namespace
}  // namespace vedette::lease
