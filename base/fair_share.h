#pragma once

#include <cstddef>
#include <map>

#include "base/assert.h"

namespace vedette::base {

// What a key that is alone leaves free for the next one, where no setting says it.
inline constexpr double kUsualReserve = 0.1;

// How much one of several keys (organisations) may hold of `total` units of a shared resource:
// slots of a worker, threads, bytes. A key may take one more while it holds less than (1 - reserve)
// / reserve times what is free. So a key that is alone holds all but the `reserve` (0.1: nine
// tenths); n greedy keys hold equal shares, and the share of 1 / (1 + 9 n) of the whole stays free
// for the next one, however greedy they are (G10). This is the dynamic threshold of Choudhury and
// Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
//
// `held`: by this key; `used`: by all keys together; 0 < reserve < 1. A key that holds nothing may
// always take a unit that is free.
inline bool MayTakeMore(std::size_t held, std::size_t used, std::size_t total, double reserve) {
  if (used >= total) return false;
  if (held == 0) return true;
  const auto free = static_cast<double>(total - used);
  return static_cast<double>(held) < (1.0 - reserve) / reserve * free;
}

// What each of several keys holds of `total` units, by MayTakeMore. A plain container: no lock; a
// copy is a snapshot that another thread may go on with. Every call costs O(log keys).
template <typename Key>
class FairShares {
 public:
  FairShares(std::size_t total, double reserve) : total_(total), reserve_(reserve) {}

  bool MayTake(const Key& key) const { return MayTakeMore(held_by(key), used_, total_, reserve_); }
  // Counts `n` more, also where they are over the key's share or over the total.
  void Take(const Key& key, std::size_t n = 1) {
    if (n == 0) return;
    held_[key] += n;
    used_ += n;
  }
  // `n` of those that the key holds.
  void GiveBack(const Key& key, std::size_t n = 1) {
    if (n == 0) return;
    const auto it = held_.find(key);
    Assert(it != held_.end() && it->second >= n && used_ >= n, "a key gives back what it holds");
    used_ -= n;
    if ((it->second -= n) == 0) held_.erase(it);
  }

  std::size_t held_by(const Key& key) const {
    const auto it = held_.find(key);
    return it == held_.end() ? 0 : it->second;
  }
  std::size_t used() const { return used_; }
  bool full() const { return used_ >= total_; }
  std::size_t keys() const { return held_.size(); }  // that hold something

 private:
  std::size_t total_;
  double reserve_;
  std::size_t used_ = 0;
  std::map<Key, std::size_t> held_;
};

}  // namespace vedette::base
