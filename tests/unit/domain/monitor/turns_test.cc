#include "domain/monitor/chunk_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace vedette::domain {
namespace {

using base::Timestamp;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Timestamp kNow{seconds(1'800'000'000)};

// An organisation's waiting chunks: by turn, then in the order in which they came.
class Queue {
 public:
  // `n` chunks of one flow.
  void Cut(char flow, int n, Timestamp now) {
    Timestamp turn = FirstStart(Waiting(), now);
    for (int k = 0; k < n; ++k) {
      chunks_.push_back({turn, flow});
      turn = NextStart(turn, now);
    }
  }
  std::string Claim(int n) {
    std::string flows;
    for (; n > 0 && !chunks_.empty(); --n) {
      const auto first = First();
      flows += first->second;
      chunks_.erase(first);
    }
    return flows;
  }

 private:
  using Chunk = std::pair<Timestamp, char>;
  std::vector<Chunk>::iterator First() {
    return std::min_element(chunks_.begin(), chunks_.end(),
                            [](const Chunk& a, const Chunk& b) { return a.first < b.first; });
  }
  std::optional<Timestamp> Waiting() {
    if (chunks_.empty()) return std::nullopt;
    return First()->first;
  }
  std::vector<Chunk> chunks_;
};

TEST(Turns, AreInThePastSoThatEveryChunkIsDue) {
  Timestamp turn = FirstStart(std::nullopt, kNow);
  EXPECT_LE(turn, kNow);
  EXPECT_LT(turn, NextStart(turn, kNow));
  EXPECT_EQ(NextStart(kNow, kNow), kNow);
}

TEST(Turns, G10_ANewTickIsAheadOfTheRestOfALargeOne) {
  Queue queue;
  queue.Cut('L', 4000, kNow);
  EXPECT_EQ(queue.Claim(100), std::string(100, 'L'));
  queue.Cut('s', 1, kNow + seconds(10));
  EXPECT_EQ(queue.Claim(2), "sL");
  queue.Cut('s', 1, kNow + seconds(20));
  queue.Cut('t', 1, kNow + seconds(21));
  EXPECT_EQ(queue.Claim(3), "stL") << "in the order in which they came";
}

TEST(Turns, G10_TwoLargeTicksProgressAtEqualRatesFromWhereTheyMeet) {
  Queue queue;
  queue.Cut('A', 1000, kNow);
  queue.Claim(300);
  queue.Cut('B', 1000, kNow + seconds(60));
  const std::string claimed = queue.Claim(200);
  const auto of_a = std::count(claimed.begin(), claimed.end(), 'A');
  EXPECT_NEAR(static_cast<double>(of_a), 100, 2);
}

TEST(Turns, G10_ALargeTickGetsWhatAStreamOfSmallOnesLeaves) {
  Queue queue;
  queue.Cut('L', 1000, kNow);
  int of_large = 0;
  for (int second = 0; second < 100; ++second) {
    queue.Cut('s', 1, kNow + seconds(second));
    const std::string claimed = queue.Claim(2);
    of_large += static_cast<int>(std::count(claimed.begin(), claimed.end(), 'L'));
  }
  EXPECT_EQ(of_large, 100) << "half of the capacity";
}

TEST(Turns, NothingStarves) {
  Queue queue;
  queue.Cut('L', 20, kNow);
  queue.Claim(1);
  Timestamp now = kNow;
  int of_large = 0;
  // There are as many small ones as there is capacity for, for two hours.
  for (; now < kNow + hours(2); now += seconds(10)) {
    queue.Cut('s', 1, now);
    if (queue.Claim(1) == "L") ++of_large;
  }
  EXPECT_EQ(of_large, 19);
}

}  // namespace
}  // namespace vedette::domain
