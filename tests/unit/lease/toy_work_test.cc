// A kind of leased work over the engine of lease/ alone (toy_work.h).
#include <deque>
#include <latch>
#include <memory>
#include <optional>
#include <set>

#include "store/async.h"
#include "tests/unit/lease/lease_test.h"
#include "tests/unit/lease/toy_work.h"

namespace vedette::lease {
namespace {

using std::chrono::milliseconds;

constexpr int kTasks = 200;

class ToyWorkTest : public LeaseTest {
 public:
  ToyWorkTest() {
    for (int n = 1; n <= kTasks; ++n) store_.Put(Id(n), Id(1000 + n % 3));
  }
  void TearDown() override {
    OnLoop([this] { workers_.clear(); });
    LeaseTest::TearDown();
  }

  // A worker that does its tasks at once, or, where it `holds` them, when the test says so.
  std::size_t Start(ToyLimits limits, bool holds) {
    OnLoop([&] {
      const std::size_t n = workers_.size();
      workers_.emplace_back();
      workers_.back().emplace(loop_, pool_, clock_, log_, store_, limits,
                              [this, n, holds](const base::Uuid& id) {
                                if (holds) {
                                  open_.push_back(id);
                                } else {
                                  workers_[n]->Done(id);
                                }
                              });
      workers_.back()->Start();
    });
    return workers_.size() - 1;
  }
  // Returns when what a dead worker had under way on the pool has ended: its threads have all come
  // to jobs of this function.
  void FinishClaims() {
    const auto all = std::make_shared<std::latch>(kPoolThreads);
    const auto ended = std::make_shared<int>(0);
    OnLoop([&] {
      for (int n = 0; n < kPoolThreads; ++n) {
        store::RunAsync<bool>(
            pool_, loop_,
            [all](store::Session&) {
              all->arrive_and_wait();
              return true;
            },
            [ended](const auto&) { ++*ended; });
      }
    });
    Until([&] { return *ended == kPoolThreads; }, "the pool's threads have ended what they did");
  }
  void ExpectEachRecordedOnce() {
    const auto recorded = store_.recorded();
    EXPECT_EQ(recorded.size(), static_cast<std::size_t>(kTasks));
    for (const auto& [id, times] : recorded) EXPECT_EQ(times, 1) << id.ToString();
  }
  void UntilAllRecorded() {
    Until([this] { return store_.recorded().size() == kTasks; }, "every task is recorded");
  }

  ToyStore store_;
  // The loop's thread only.
  std::deque<std::optional<ToyPipeline>> workers_;
  std::deque<base::Uuid> open_;  // tasks that are held
};

TEST_F(ToyWorkTest, SeveralWorkersDoEveryTaskOnce) {
  Start({}, false);
  Start({}, false);
  UntilAllRecorded();
  ExpectEachRecordedOnce();
}

TEST_F(ToyWorkTest, ADeadWorkersTasksAreDoneByAnother) {
  const ToyLimits limits;
  const std::size_t dead = Start(limits, true);
  Until([this] { return open_.size() >= 8; }, "it holds tasks");
  OnLoop([&] { workers_[dead].reset(); });
  Start({}, false);
  // Time goes on wherever nothing else does: a claim that was under way when the worker died may
  // lease tasks for it afterwards.
  std::size_t before = 0;
  Until(
      [&] {
        const std::size_t now = store_.recorded().size();
        if (std::exchange(before, now) == now) store_.Advance(limits.lease);
        return now == kTasks;
      },
      "every task is recorded");
  ExpectEachRecordedOnce();
}

TEST_F(ToyWorkTest, AWorkerThatLivesKeepsItsTasksFarBeyondOneLease) {
  const ToyLimits limits{.lease = milliseconds(30)};
  const std::size_t slow = Start(limits, true);
  Until([this] { return open_.size() >= 8; }, "it holds tasks");
  Start({}, false);
  const auto held = [&] { return workers_[slow]->held(); };
  Until([&] { return store_.recorded().size() + held() == kTasks; }, "the others are recorded");
  for (int i = 0; i < 10; ++i) {
    // The second renewal from now on is begun after now.
    const int wanted = store_.renewals() + 2;
    Until([&] { return store_.renewals() >= wanted; }, "a renewal of all that is held");
    store_.Advance(limits.lease / 2);
  }
  OnLoop([&] {
    EXPECT_EQ(workers_[slow]->lost(), 0);
    for (const base::Uuid& id : std::exchange(open_, {})) workers_[slow]->Done(id);
  });
  UntilAllRecorded();
  ExpectEachRecordedOnce();
}

TEST_F(ToyWorkTest, AResultWhoseLeaseWasLostIsDropped) {
  const std::size_t n = Start({}, true);
  Until([this] { return !open_.empty(); }, "it holds tasks");
  base::Uuid stolen;
  OnLoop([&] { stolen = open_.front(); });
  store_.Steal(stolen);
  OnLoop([&] { workers_[n]->Done(stolen); });
  Until([&] { return workers_[n]->dropped() == 1; }, "the record is dropped");
  EXPECT_FALSE(store_.recorded().contains(stolen));
}

TEST_F(ToyWorkTest, ALostLeaseIsToldByTheRenewal) {
  const std::size_t n = Start({.lease = milliseconds(30)}, true);
  Until([this] { return !open_.empty(); }, "it holds tasks");
  OnLoop([&] { store_.Steal(open_.front()); });
  Until([&] { return workers_[n]->lost() >= 1; }, "the loss is told");
}

TEST_F(ToyWorkTest, ADrainLetsTasksEndWithinItsTime) {
  const std::size_t n = Start({}, true);
  Until([this] { return open_.size() >= 8; }, "it holds tasks");
  bool drained = false;
  OnLoop([&] { workers_[n]->Drain([&] { drained = true; }); });
  OnLoop([&] { EXPECT_FALSE(drained); });
  Until(
      [&] {
        for (const base::Uuid& id : std::exchange(open_, {})) workers_[n]->Done(id);
        return drained;
      },
      "the drain ends");
  EXPECT_EQ(store_.leased(), 0U);
  EXPECT_GE(store_.recorded().size(), 8U);
}

TEST_F(ToyWorkTest, ADrainOutOfTimeGivesBackWhatIsLeft) {
  const std::size_t n = Start({.drain_timeout = milliseconds(5)}, true);
  Until([this] { return open_.size() >= 8; }, "it holds tasks");
  bool drained = false;
  OnLoop([&] { workers_[n]->Drain([&] { drained = true; }); });
  Until([&] { return drained; }, "the drain ends");
  EXPECT_EQ(store_.leased(), 0U);
  Start({}, false);
  UntilAllRecorded();
  ExpectEachRecordedOnce();
}

TEST_F(ToyWorkTest, ATaskThatEndsItsWorkersIsTriedAloneAndThenQuarantined) {
  const base::Uuid poison = Id(7);
  const ToyLimits limits;
  int deaths = 0;
  while (store_.recorded().size() < kTasks) {
    ASSERT_LE(deaths, limits.claims_max + 1);
    OnLoop([&] {
      workers_.emplace_back();
      auto& worker = workers_.back();
      worker.emplace(loop_, pool_, clock_, log_, store_, limits, [&, this](const base::Uuid& id) {
        if (id == poison) {
          open_.push_back(id);
        } else {
          worker->Done(id);
        }
      });
      worker->Start();
    });
    Until([&] { return !open_.empty() || store_.recorded().size() == kTasks; },
          "the worker dies, or all is done");
    if (open_.empty()) break;
    ++deaths;
    OnLoop([&] {
      workers_.back().reset();
      open_.clear();
    });
    FinishClaims();
    store_.Advance(limits.lease);
  }
  EXPECT_EQ(deaths, limits.claims_max + 1) << "it died as often as it was claimed, and tried alone";
  EXPECT_EQ(store_.quarantined(), std::set<base::Uuid>{poison});
  ExpectEachRecordedOnce();
}

}  // namespace
}  // namespace vedette::lease
