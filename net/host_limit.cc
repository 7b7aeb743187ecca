#include "net/host_limit.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace vedette::net {

namespace {

constexpr int kAnswersMin = 16;  // of a window
// A window that is not over by its answers alone: what delays this process for a moment is no news
// of the host.
constexpr std::chrono::milliseconds kWindowMin{100};
constexpr int kOverloadsMin = 4;    // that are no accident
constexpr int kOverloadShare = 8;   // one in so many is too many,
constexpr int kHarmlessShare = 32;  // and one in so many changes nothing
constexpr int kStep = 16;
// Differences of log2: answers that take twice as long are slow, 1.4 times as long are as usual,
// and a half is faster that takes at most three quarters of the time.
constexpr double kSlow = 1.0;
constexpr double kAsUsual = 0.5;
constexpr double kFaster = 0.415;
// A host that answers within this is never slow: so short a time is this process's own.
constexpr double kQuickUs = 2000;

}  // namespace

HostLimit::HostLimit(int most)
    : most_(most), least_(std::min(kLeast, most)), value_(std::min(kFirst, most)) {
  base::Assert(most > 0, "a host may be asked");
}

bool HostLimit::Take(const Ended& ended, int under_way, TimePoint now) {
  if (ended.answer == Answer::kOther || ended.began < window_.began) return false;
  window_.under_way = std::max(window_.under_way, under_way);
  if (ended.answer == Answer::kServed) {
    ++window_.served;
    window_.sum_log2 += std::log2(std::max<double>(1, static_cast<double>(ended.took.count())));
  } else {
    ++(ended.answer == Answer::kRefused ? window_.refused : window_.failed);
  }
  const int size = std::max(kAnswersMin, window_.under_way);
  const bool overloaded =
      window_.refused + window_.failed >= std::max(kOverloadsMin, size / kOverloadShare);
  const bool over = window_.answers() >= size && now - window_.began >= kWindowMin;
  if (!overloaded && !over) return false;
  const int before = value_;
  if (overloaded) {
    state_ = State::kFollowing;
    Less(value_ / 2);
  } else {
    Decide();
  }
  window_ = {.began = now};
  return value_ != before;
}

void HostLimit::Decide() {
  if (window_.refused * kHarmlessShare > window_.answers()) {
    state_ = State::kFollowing;
    return Less(std::max(1, value_ / kStep));
  }
  const double seen = window_.sum_log2 / window_.served;
  if (IsSlow(seen)) return;
  usual_ = std::min(usual_, seen);
  const double as_usual = std::max(usual_ + kAsUsual, std::log2(std::exp2(usual_) + kQuickUs / 2));
  const bool healthy = window_.failed * kHarmlessShare <= window_.answers();
  if (window_.wanted && healthy && seen <= as_usual) Grow();
}

// Whether nothing is to be made of the window but what this has made of it.
bool HostLimit::IsSlow(double seen) {
  if (state_ == State::kTrial) {
    state_ = State::kFollowing;
    if (seen > before_ - kFaster) {
      usual_ = seen;
      value_ = trial_value_;
      return true;
    }
    too_much_ = trial_value_;
  }
  if (usual_ < 0) usual_ = seen;
  const double slow = std::max(usual_ + kSlow, std::log2(std::exp2(usual_) + kQuickUs));
  if (seen <= slow) return false;
  if (value_ <= kLeastOfSlow) {
    usual_ = seen;
    return true;
  }
  state_ = State::kTrial;
  before_ = seen;
  trial_value_ = value_;
  value_ = std::max(kLeastOfSlow, value_ / 2);
  return true;
}

void HostLimit::Grow() {
  const int half = too_much_ / 2;
  if (too_much_ == 0) {
    value_ = std::min(most_, value_ * 2);
  } else if (value_ < half) {
    value_ = std::min(half, value_ * 2);
  } else {
    value_ = std::min(most_, value_ + std::max(1, value_ / kStep));
    if (value_ > too_much_) too_much_ = 0;
  }
}

void HostLimit::Less(int by) {
  // The first of several falls says where it was too much.
  too_much_ = std::max(too_much_, value_);
  value_ = std::max(least_, value_ - by);
}

}  // namespace vedette::net
