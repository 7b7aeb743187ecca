#pragma once

#include <algorithm>
#include <chrono>

namespace vedette::api {

// When the next look for ended jobs may begin. Looks take at most a tenth of one connection's time:
// a look for which the database took long, because many jobs are asked about or it is busy, is
// followed by a longer gap. What a look waits for a connection does not count: it takes nobody's
// time. Between two beginnings there are kGapMin to kGapMax. Pure: the caller hands in the time,
// since boot. One thread.
//
//   a look: |--took--|
//           |--------------gap: 10 x took--------------|--took--|
class LookPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr int kTimesTook = 10;
  static constexpr std::chrono::milliseconds kGapMin{2};
  static constexpr std::chrono::milliseconds kGapMax{20};

  void Began(Nanoseconds now) { began_ = now; }
  // The answer to the look that began last; what the database took for it.
  void Ended(Nanoseconds took) {
    gap_ = std::clamp<Nanoseconds>(kTimesTook * took, kGapMin, kGapMax);
  }
  // The first time from `wanted` on at which a look may begin.
  Nanoseconds From(Nanoseconds wanted) const { return std::max(wanted, began_ + gap_); }

 private:
  Nanoseconds began_{-kGapMax};  // the first look waits for nothing
  Nanoseconds gap_{kGapMin};
};

}  // namespace vedette::api
