#include "lease/batcher.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/lease/lease_test.h"

namespace vedette::lease {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Items = std::vector<int>;

class BatcherTest : public LeaseTest {
 public:
  using IntBatcher = Batcher<int, bool>;

  BatcherTest() {
    options_.delay = milliseconds(1);
    options_.weight_max = 100;
    options_.backoff = {milliseconds(1), milliseconds(1)};
  }

  void TearDown() override {
    OnLoop([this] { batcher_.reset(); });
    LeaseTest::TearDown();
  }

  void Make() {
    IntBatcher::Hooks hooks{
        .begin = [this](const Items& batch, bool again) -> IntBatcher::Job {
          return [this, batch, again](store::Session&) {
            {
              const std::lock_guard lock(mutex_);
              sent_.emplace_back(batch, again);
              most_at_once_ = std::max(most_at_once_, ++at_once_);
            }
            write_(batch, again);
            const std::lock_guard lock(mutex_);
            --at_once_;
            return true;
          };
        },
        .written =
            [this](const Items& batch, bool, bool again) {
              for (const int item : batch) written_[item] = again;
            },
        .lost = [this](int item, const Loss& loss) { lost_.emplace(item, loss); }};
    hooks.weight = weight_;
    hooks.group = group_;
    hooks.take = take_;
    OnLoop([&] { batcher_.emplace(loop_, pool_, clock_, log_, options_, std::move(hooks)); });
  }
  void Add(const Items& items) {
    OnLoop([&] {
      for (const int item : items) batcher_->Add(item);
    });
  }
  void UntilIdle() {
    Until([this] { return batcher_->idle(); }, "everything is written");
  }
  std::vector<Items> batches() {
    const std::lock_guard lock(mutex_);
    std::vector<Items> batches;
    for (const auto& [batch, again] : sent_) batches.push_back(batch);
    return batches;
  }
  std::size_t sent() { return batches().size(); }

  BatcherOptions options_{.delayed = "a test's batch is repeated",
                          .refused = "a test's batch is refused"};
  std::function<std::size_t(const int&)> weight_;
  std::function<base::Uuid(const int&)> group_;
  std::function<bool(int*)> take_;
  std::function<void(const Items&, bool)> write_ = [](const Items&, bool) {};  // on the pool
  // The loop's thread only.
  std::map<int, bool> written_;  // with `again`
  std::map<int, Loss> lost_;
  std::optional<IntBatcher> batcher_;

  std::mutex mutex_;
  std::vector<std::pair<Items, bool>> sent_;
  int at_once_ = 0;
  int most_at_once_ = 0;
};

TEST_F(BatcherTest, WhatComesWithinTheDelayGoesTogether) {
  Make();
  Add({1, 2, 3});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{1, 2, 3}}));
  EXPECT_EQ(written_, (std::map<int, bool>{{1, false}, {2, false}, {3, false}}));
}

TEST_F(BatcherTest, EnoughGoesAtOnceAndTheRestWaitsForMore) {
  options_.delay = hours(1);
  options_.weight_max = 2;
  Make();
  Add({1, 2, 3});
  Until([this] { return written_.size() == 2; }, "the batch that is full");
  EXPECT_EQ(batches(), std::vector<Items>({{1, 2}}));
  EXPECT_FALSE(batcher_->idle());
  OnLoop([this] { batcher_->Flush(); });
  UntilIdle();
  EXPECT_EQ(batches().back(), Items{3});
}

TEST_F(BatcherTest, ABatchEndsWithTheItemThatReachesTheWeight) {
  options_.weight_max = 10;
  weight_ = [](const int& item) { return static_cast<std::size_t>(item); };
  Make();
  Add({4, 5, 6, 7});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{4, 5, 6}, {7}}));
}

TEST_F(BatcherTest, SendsNoMoreBatchesAtOnceThanItMay) {
  Gate gate;
  write_ = [&](const Items&, bool) { gate.Pass(); };
  options_.weight_max = 1;
  options_.batches_max = 2;
  Make();
  Add({1, 2, 3, 4, 5});
  Until([this] { return sent() == 2; }, "two batches are under way");
  OnLoop([this] { EXPECT_EQ(batcher_->gathered(), 3U); });
  gate.Open();
  UntilIdle();
  EXPECT_EQ(sent(), 5U);
  EXPECT_EQ(most_at_once_, 2);
}

// Leases that are lost while a record is under way make such items. The end of that record went
// astray then, and the loop of the process with it.
TEST_F(BatcherTest, G12_WhatIsNotWantedAnyMoreLeavesTheBatchThatIsUnderWayAlone) {
  Gate gate;
  write_ = [&](const Items&, bool) { gate.Pass(); };
  options_.batches_max = 2;
  take_ = [](const int* item) { return *item != 2; };
  Make();
  Add({1});
  Until([this] { return sent() == 1; }, "a batch is under way");
  Add({2});
  Until([this] { return batcher_->gathered() == 0; }, "the other item is passed over");
  gate.Open();
  UntilIdle();
  Add({3});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{1}, {3}}));
  EXPECT_EQ(written_, (std::map<int, bool>{{1, false}, {3, false}}));
}

TEST_F(BatcherTest, G12_AnUnknownCommitIsRepeatedAndTheJobIsTold) {
  std::atomic<int> tries = 0;
  write_ = [&](const Items&, bool again) {
    EXPECT_EQ(again, tries > 0);
    if (++tries == 1) throw store::CommitUnknown("no answer");
    if (tries == 2) throw store::Unavailable("away");
  };
  Make();
  Add({1, 2});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{1, 2}, {1, 2}, {1, 2}}));
  EXPECT_EQ(written_, (std::map<int, bool>{{1, true}, {2, true}}));
}

TEST_F(BatcherTest, G12_WhatDidNotHappenIsRepeatedAsTheFirstTime) {
  std::atomic<int> tries = 0;
  write_ = [&](const Items&, bool again) {
    EXPECT_FALSE(again);
    if (++tries < 4) throw store::Contention("busy");
  };
  Make();
  Add({1});
  UntilIdle();
  EXPECT_EQ(sent(), 4U);
  EXPECT_EQ(written_, (std::map<int, bool>{{1, false}}));
}

TEST_F(BatcherTest, TheItemThatTheDatabaseRefusesIsLostAlone) {
  write_ = [](const Items& batch, bool) {
    if (std::find(batch.begin(), batch.end(), 3) != batch.end()) throw std::logic_error("not 3");
  };
  Make();
  Add({1, 2, 3, 4, 5});
  UntilIdle();
  EXPECT_EQ(written_.size(), 4U);
  ASSERT_EQ(lost_.size(), 1U);
  EXPECT_EQ(lost_.at(3).kind, Loss::Kind::kRefused);
  EXPECT_EQ(lost_.at(3).message, "not 3");
  EXPECT_FALSE(lost_.at(3).may_have_happened);
  EXPECT_EQ(sent(), 6U) << "together, then each alone";
}

TEST_F(BatcherTest, ARefusalAfterAnUnknownCommitSaysThatItMayHaveHappened) {
  std::atomic<int> tries = 0;
  write_ = [&](const Items&, bool) {
    if (++tries == 1) throw store::CommitUnknown("no answer");
    throw std::logic_error("recorded already");
  };
  Make();
  Add({1, 2});
  UntilIdle();
  ASSERT_EQ(lost_.size(), 2U);
  EXPECT_TRUE(lost_.at(1).may_have_happened);
  EXPECT_TRUE(lost_.at(2).may_have_happened);
}

TEST_F(BatcherTest, ABatchIsOfOneGroupAndAGroupHasOneUnderWay) {
  Gate gate;
  write_ = [&](const Items&, bool) { gate.Pass(); };
  group_ = [](const int& item) { return Id(item / 10); };
  options_.batches_max = 3;
  options_.weight_max = 2;
  Make();
  Add({11, 12, 13, 21, 14});
  Until([this] { return sent() == 2; }, "a batch of each group");
  EXPECT_EQ(at_once_, 2);
  gate.Open();
  UntilIdle();
  auto all = batches();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, std::vector<Items>({{11, 12}, {13, 14}, {21}}));
}

TEST_F(BatcherTest, WithoutAGroupSeveralBatchesAreUnderWay) {
  Gate gate;
  write_ = [&](const Items&, bool) { gate.Pass(); };
  options_.batches_max = 3;
  options_.weight_max = 1;
  Make();
  Add({1, 2, 3});
  Until([this] { return sent() == 3; }, "three batches");
  gate.Open();
  UntilIdle();
}

TEST_F(BatcherTest, AnItemForLaterStaysBehindUntilItIsAdded) {
  Make();
  OnLoop([this] {
    batcher_->AddLater(7, hours(1));
    batcher_->Add(1);
  });
  Until([this] { return written_.size() == 1; }, "the other item");
  EXPECT_EQ(batches(), std::vector<Items>({{1}}));
  Add({7});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{1}, {7}})) << "gathered once";
}

TEST_F(BatcherTest, AnItemForLaterGoesWhenItsTimeHasCome) {
  options_.delay = hours(1);
  Make();
  OnLoop([this] { batcher_->AddLater(7, milliseconds(1)); });
  UntilIdle();
  EXPECT_EQ(written_.size(), 1U);
}

TEST_F(BatcherTest, AnItemIsCompletedWhenItGoesOrForgotten) {
  take_ = [](int* item) {
    *item += 100;
    return *item != 102;
  };
  Make();
  Add({1, 2, 3});
  UntilIdle();
  EXPECT_EQ(batches(), std::vector<Items>({{101, 103}}));
  Add({2});
  UntilIdle();
  EXPECT_EQ(sent(), 1U) << "nothing was wanted";
}

TEST_F(BatcherTest, AbandonLosesWhatIsNotBeingSent) {
  Gate gate;
  std::atomic<bool> repeated = false;
  options_.weight_max = 1;
  options_.batches_max = 2;
  write_ = [&](const Items& batch, bool again) {
    if (batch == Items{1}) {
      repeated = again;
      throw store::CommitUnknown("no answer");
    }
    gate.Pass();
  };
  Make();
  Add({1, 2, 3});
  Until([&] { return repeated && sent() > 2; }, "one is repeated, one is being sent");
  OnLoop([this] { batcher_->Abandon(); });
  gate.Open();
  UntilIdle();
  ASSERT_EQ(lost_.size(), 2U);
  EXPECT_EQ(lost_.at(1).kind, Loss::Kind::kAbandoned);
  EXPECT_TRUE(lost_.at(1).may_have_happened);
  EXPECT_FALSE(lost_.at(3).may_have_happened);
  EXPECT_EQ(written_.size(), 1U);
  Add({4});
  EXPECT_EQ(lost_.size(), 3U);
  EXPECT_TRUE(batcher_->idle());
}

TEST_F(BatcherTest, ResultsReachALiveOwnerOnly) {
  Gate gate;
  write_ = [&](const Items&, bool) { gate.Pass(); };
  Make();
  Add({1});
  Until([this] { return sent() == 1; }, "it is being sent");
  OnLoop([this] { batcher_.reset(); });
  gate.Open();
  FinishJobs();
  EXPECT_TRUE(written_.empty());
}

}  // namespace
}  // namespace vedette::lease
