#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace vedette::store {

// How long a transaction may take to commit what it places in a queue, and be found at once.
inline constexpr std::chrono::seconds kScanMargin{5};
// How long nearly all of them take.
inline constexpr std::chrono::milliseconds kScanMarginShort{250};

// The places at which scans of a queue's index begin, for each key of the queue (an organisation, a
// receiver). An index entry of what is done stays as long as a snapshot is held that is older than
// its end, and every scan from the beginning visits all of them: beside a backup they become more
// all the time. So a process remembers what its last scan of a key found first, and begins the next
// one there.
//
//                two scans from the beginning, one after the other, took long
//   kBeginning --------------------------------------------------------------> kBounds
//              <--------------------------------------------------------------
//                kRest times what the shorter of them took has passed, or kRestMax,
//                or two scans behind bounds, one after the other, took longer than the last of them
//
// A scan took long where it took more than kQuick and kQuickEach for each key that it visited: a
// busy queue is scanned some fifty times a second, and a claim waits for it. One alone says
// nothing: the machine may have stood still. A scan behind bounds visits all keys, those with
// nothing in the queue, too: where there are many of them, and no snapshot, that takes longer.
//
// Nothing is left behind a bound for good. Where a scan finds nothing the next one begins where
// work arrives, less kScanMarginShort. Once every kNear, or kRest times what such a scan takes
// where that is longer, a key is scanned from a lower place: less kScanMargin, for transactions
// that commit late. What arrives still lower (work that was given back, a transaction that
// committed still later) is found by the next scan from the beginning, after at most kRest times
// what such a scan takes, and kRestMax: scans from the beginning are a fiftieth of the time, or one
// in kRestMax. While they are quick, as they are where no snapshot is held for long, every scan is
// one.
//
// A place is where something stands in the order of the queue: a time, or a time and what tells
// those of one time apart. Times of the queue are the database's; those of this process are since
// boot. One thread at a time.
template <typename Key, typename Place = base::Timestamp>
class ScanBounds {
 public:
  enum class From { kBeginning, kBounds };
  static constexpr std::chrono::milliseconds kQuick{2};
  static constexpr std::chrono::microseconds kQuickEach{50};
  static constexpr int kRest = 50;
  // A minute was a tenth of all time after ten minutes beside a snapshot, when a scan of eight
  // million entries took six seconds and more.
  static constexpr std::chrono::minutes kRestMax{10};
  static constexpr std::chrono::seconds kNear{1};
  // The bounds of more keys are forgotten, and found again.
  static constexpr std::size_t kKeysMax = 20'000;

  using SinceBoot = std::chrono::nanoseconds;
  using First = std::optional<Place>;  // what a scan found first; empty: nothing

  // What a scan saw of a key.
  struct Seen {
    Key key;
    First first;
    Place arrives{};  // where new work is placed, less kScanMargin
    Place newest{};   // less kScanMarginShort
  };

  From Next(SinceBoot now) const { return now < until_ ? From::kBounds : From::kBeginning; }

  // The place at which a scan of a key begins at `now`; empty: the beginning.
  First Of(const Key& key, SinceBoot now) const {
    const auto it = bounds_.find(key);
    if (it == bounds_.end() || it->second.beginning_at <= now) return std::nullopt;
    return it->second.low_at <= now ? it->second.low : it->second.near;
  }
  // What the last scan of the key found first: a claim behind it begins there. Empty: nothing, or
  // nothing is known.
  First Found(const Key& key) const {
    const auto it = bounds_.find(key);
    return it == bounds_.end() || !it->second.found ? std::nullopt : First(it->second.near);
  }
  // The first keys behind `key`, at most so many, that have bounds at `now`, with them.
  std::vector<std::pair<Key, Place>> Behind(const Key& key, int keys_max, SinceBoot now) const {
    std::vector<std::pair<Key, Place>> behind;
    auto it = bounds_.upper_bound(key);
    for (int n = 0; n < keys_max && it != bounds_.end(); ++n, ++it) {
      if (const First from = Of(it->first, now)) behind.emplace_back(it->first, *from);
    }
    return behind;
  }

  // A scan that began so at `began` ended at `ended`; `seen` are the keys that it visited.
  void Scanned(From from, SinceBoot began, SinceBoot ended, const std::vector<Seen>& seen) {
    const SinceBoot took = ended - began;
    const auto keys = static_cast<std::int64_t>(seen.size());
    const SinceBoot slow = took > kQuick + kQuickEach * keys ? took : SinceBoot{};
    SinceBoot rest = std::min<SinceBoot>(kRest * took, kRestMax);
    if (from == From::kBeginning) {
      rest = std::min<SinceBoot>(kRest * std::min(slow, last_slow_), kRestMax);
      until_ = rest > SinceBoot{} ? ended + rest : SinceBoot{};
      last_slow_ = slow;
    }
    in_vain_ = from == From::kBounds && took > last_slow_ ? in_vain_ + 1 : 0;
    if (in_vain_ == 2) until_ = {};
    if (Next(ended) == From::kBeginning || bounds_.size() > kKeysMax) bounds_.clear();
    if (Next(ended) == From::kBeginning) return;
    for (const auto& [key, first, arrives, newest] : seen) {
      Bound& bound = bounds_[key];
      const bool whole = from == From::kBeginning || bound.beginning_at <= began;
      if (whole) bound.beginning_at = ended + rest;
      if (whole || bound.low_at <= began) {
        bound.low = first ? std::min(*first, arrives) : arrives;
        bound.low_at = ended + (whole ? kNear : std::max<SinceBoot>(rest, kNear));
      }
      bound.near = first.value_or(newest);
      bound.found = first.has_value();
    }
  }

 private:
  struct Bound {
    Place near{};
    Place low{};
    SinceBoot low_at{};        // from then on scans begin at `low`
    SinceBoot beginning_at{};  // from then on they begin at the beginning
    bool found = false;        // something was found at `near`
  };

  SinceBoot until_{};
  SinceBoot last_slow_{};  // what the last scan from the beginning took; zero: it was quick
  int in_vain_ = 0;        // scans behind bounds, one after the other, that took longer
  std::map<Key, Bound> bounds_;
};

}  // namespace vedette::store
