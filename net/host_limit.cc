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
// Logarithms: answers that take twice as long are slow, 1.4 times as long are as usual, and a half
// is faster that takes at most three quarters of the time.
constexpr double kSlow = 1.0;
constexpr double kAsUsual = 0.5;
constexpr double kFaster = 0.415;
// So many windows in a row between "as usual" and "slow" are tried like slow ones.
constexpr int kSlowerInRowMax = 64;

double Log2(std::chrono::microseconds time) {
  return std::log2(std::max<double>(1, static_cast<double>(time.count())));
}

}  // namespace

HostLimit::HostLimit(int most)
    : most_(most), least_(std::min(kLeast, most)), value_(std::min(kFirst, most)) {
  base::Assert(most > 0, "a host may be asked");
}

bool HostLimit::Take(const Ended& ended, int under_way, TimePoint now) {
  if (ended.answer == Answer::kOther) return false;
  // While nothing was under way the window did not last.
  if (window_.ended == 0) window_.began = std::max(window_.began, ended.began);
  Count(ended, under_way);
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
    Decide(now);
  }
  window_ = {.began = now};
  return value_ != before;
}

void HostLimit::Count(const Ended& ended, int under_way) {
  ++window_.ended;
  if (ended.began < window_.began) return;
  window_.under_way = std::max(window_.under_way, under_way);
  if (ended.answer == Answer::kServed) {
    ++window_.served;
    window_.sum_log2 += Log2(ended.took);
  } else {
    ++(ended.answer == Answer::kRefused ? window_.refused : window_.failed);
  }
}

void HostLimit::Decide(TimePoint now) {
  if (window_.refused * kHarmlessShare > window_.answers()) {
    state_ = State::kFollowing;
    return Less(std::max(1, value_ / kStep));
  }
  const double seen = window_.sum_log2 / window_.served;
  if (usual_ < 0) usual_ = seen;
  if (state_ == State::kTrial && !TrialHelped(seen)) return;
  if (window_.wanted) DecideByTime(seen, Enough(now));
  if (seen < usual_) usual_ = (usual_ + seen) / 2;  // one lucky window is not the usual
}

void HostLimit::DecideByTime(double seen, int enough) {
  if (value_ / 2 > enough) {
    value_ = enough;
    return;
  }
  const double own = std::log2(std::exp2(usual_) + static_cast<double>(kOwnDelay.count()));
  if (seen > std::max(usual_ + kSlow, own)) return BeginTrial(seen);
  if (value_ >= enough) return;
  if (seen > usual_ + kAsUsual) {
    if (++slower_in_row_ >= kSlowerInRowMax) BeginTrial(seen);
    return;
  }
  slower_in_row_ = 0;
  if (window_.failed * kHarmlessShare <= window_.answers()) Grow(enough);
}

// The limit that makes enough, by what the present one has made: at least kFirst.
int HostLimit::Enough(TimePoint now) const {
  const std::chrono::duration<double> took = now - window_.began;
  const double share = kEnoughPerSecond * took.count() / window_.ended;
  const double enough = std::min<double>(most_, std::ceil(value_ * share));
  return std::max(std::min(kFirst, most_), static_cast<int>(enough));
}

void HostLimit::BeginTrial(double seen) {
  slower_in_row_ = 0;
  const int least = seen <= Log2(kOwnDelay) ? kFirst : kLeastOfSlow;
  if (value_ <= least) {
    usual_ = seen;
    return;
  }
  state_ = State::kTrial;
  before_ = seen;
  trial_value_ = value_;
  value_ = std::max(least, value_ / 2);
}

// Whether the half was faster. Where it was not, everything is as it was before.
bool HostLimit::TrialHelped(double seen) {
  state_ = State::kFollowing;
  if (seen > before_ - kFaster) {
    usual_ = seen;
    value_ = trial_value_;
    return false;
  }
  too_much_ = trial_value_;
  return true;
}

void HostLimit::Grow(int most) {
  const int half = too_much_ / 2;
  if (too_much_ == 0) {
    value_ = std::min(most, value_ * 2);
  } else if (value_ < half) {
    value_ = std::min({most, half, value_ * 2});
  } else {
    value_ = std::min(most, value_ + std::max(1, value_ / kStep));
    if (value_ > too_much_) too_much_ = 0;
  }
}

void HostLimit::Less(int by) {
  // The first of several falls says where it was too much.
  too_much_ = std::max(too_much_, value_);
  value_ = std::max(least_, value_ - by);
}

}  // namespace vedette::net
