#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace vedette::base {

// What waits for one thing that several keys (organisations) share: threads, connections, bytes.
// Keys take turns; within a key the order is that of arrival. So nobody waits behind a neighbour's
// backlog, only behind one turn of each key that waits (G10).
//
// The owner says what each item has cost (Charge) where costs differ a lot: turns are
// then by cost, and a key that has used more than others since they came waits until they have,
// too.
//
// A plain container: no clock, no limit, no lock. Its owner bounds what it pushes and guards
// it. A push, a pop and a visit of one key cost O(log keys), a charge O(keys).
template <typename Key, typename Item>
class FairQueue {
 public:
  using Cost = std::uint64_t;

  void Push(const Key& key, Item item) {
    auto [it, inserted] = keys_.try_emplace(key);
    if (inserted) it->second.turn = AddTurn(key);
    it->second.items.push_back(std::move(item));
    ++size_;
  }

  // The next key's oldest item; the key then goes to the end of the turns.
  std::optional<Item> Pop() {
    return PopIf([](const Key&, const Item&) { return true; });
  }

  // The same for the first key in turn whose oldest item `may(key, item)` go now. Keys that may not
  // keep their place.
  template <typename May>
  std::optional<Item> PopIf(May may) {
    for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
      const auto it = keys_.find(turn->second);
      if (!may(it->first, std::as_const(it->second.items.front()))) continue;
      std::optional<Item> item(std::move(it->second.items.front()));
      it->second.items.pop_front();
      --size_;
      now_ = std::max(now_, turn->first.first);
      turns_.erase(turn);
      if (it->second.items.empty()) {
        keys_.erase(it);
      } else {
        it->second.turn = AddTurn(it->first);
      }
      return item;
    }
    return std::nullopt;
  }

  // Says what an item of the key that was taken has cost.
  void Charge(const Key& key, Cost cost) {
    std::erase_if(used_, [&](const auto& one) { return one.second <= now_; });
    Cost& used = used_.try_emplace(key, now_).first->second;
    used += cost;
    const auto it = keys_.find(key);
    if (it == keys_.end()) return;
    turns_.erase(it->second.turn);
    it->second.turn = AddTurn(key);
  }

  // Takes every item out for which `gone(item)` is true.
  template <typename Gone>
  void EraseIf(Gone gone) {
    for (auto it = keys_.begin(); it != keys_.end();) {
      size_ -= std::erase_if(it->second.items, gone);
      if (it->second.items.empty()) {
        turns_.erase(it->second.turn);
        it = keys_.erase(it);
      } else {
        ++it;
      }
    }
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t keys() const { return keys_.size(); }
  std::size_t size_of(const Key& key) const {
    const auto it = keys_.find(key);
    return it == keys_.end() ? 0 : it->second.items.size();
  }

 private:
  // What the key had used when its turn was given, and the order of turns that are equal in that.
  using Turns = std::map<std::pair<Cost, std::uint64_t>, Key>;

  // A newcomer begins where the others are: nobody saves turns up.
  typename Turns::iterator AddTurn(const Key& key) {
    const auto it = used_.find(key);
    const Cost used = it == used_.end() ? now_ : std::max(now_, it->second);
    return turns_.emplace(std::pair(used, ++last_turn_), key).first;
  }

  struct Waiting {
    std::deque<Item> items;
    typename Turns::iterator turn;
  };
  std::map<Key, Waiting> keys_;
  Turns turns_;  // the keys of keys_, the next one first
  std::uint64_t last_turn_ = 0;
  std::map<Key, Cost> used_;  // of keys that have used more than now_
  Cost now_ = 0;              // what the last key that was taken had used
  std::size_t size_ = 0;
};

}  // namespace vedette::base
