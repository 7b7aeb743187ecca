#include "lease/watch.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "tests/unit/lease/lease_test.h"

namespace vedette::lease {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class WatchTest : public LeaseTest {
 public:
  void TearDown() override {
    OnLoop([this] { watch_.reset(); });
    LeaseTest::TearDown();
  }

  void Start(milliseconds poll) {
    OnLoop([&] {
      Watch<int>::Hooks hooks;
      hooks.read = [this]() -> Watch<int>::Job {
        if (!held_) return nullptr;
        return [this](store::Session&) {
          const int read = ++reads_;
          gate_.Pass();
          return read;
        };
      };
      hooks.seen = [this](int read, nanoseconds began) {
        seen_.push_back(read);
        began_.push_back(began);
      };
      watch_.emplace(loop_, pool_, clock_, log_, StepOptions{.failed = "reading", .poll = poll},
                     hooks);
      watch_->Start();
    });
  }

  Gate gate_;
  std::atomic<int> reads_{0};
  // The loop's thread only.
  bool held_ = true;
  std::vector<int> seen_;
  std::vector<nanoseconds> began_;
  std::optional<Watch<int>> watch_;
};

TEST_F(WatchTest, G5_AReadCountsFromWhenItBegan) {
  const auto before = clock_.SinceBoot();
  Start(hours(1));
  Until([this] { return reads_ == 1; }, "the read is under way");
  const auto under_way = clock_.SinceBoot();
  gate_.Open();
  Until([this] { return !seen_.empty(); }, "the read ends");
  EXPECT_GE(began_.front(), before);
  EXPECT_LE(began_.front(), under_way);
}

TEST_F(WatchTest, AWakeReadsAtOnceUnlessAReadIsUnderWay) {
  Start(hours(1));
  Until([this] { return reads_ == 1; }, "the read is under way");
  OnLoop([this] { watch_->Wake(); });
  gate_.Open();
  Until([this] { return seen_.size() == 1; }, "the read ends");
  OnLoop([] {});
  EXPECT_EQ(reads_, 1) << "what is under way answers the wake";
  OnLoop([this] { watch_->Wake(); });
  Until([this] { return seen_.size() == 2; }, "the wake reads");
}

TEST_F(WatchTest, ReadsAgainAndAgainWhileSomethingIsHeld) {
  gate_.Open();
  held_ = false;
  Start(milliseconds(1));
  OnLoop([] {});
  EXPECT_EQ(reads_, 0);
  OnLoop([this] { held_ = true; });
  Until([this] { return seen_.size() >= 3; }, "it reads");
}

}  // namespace
}  // namespace vedette::lease
