#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace vedette::base {

// What waits for one thing that several keys (organisations) share: threads, connections, bytes.
// Keys take turns; within a key the order is that of arrival. So nobody waits behind a neighbour's
// backlog, only behind one turn of each key that waits (G10).
//
// A plain container: no clock, no limit, no lock. Its owner bounds what it pushes and guards
// it. A push, a pop and a visit of one key cost O(log keys).
template <typename Key, typename Item>
class FairQueue {
 public:
  void Push(const Key& key, Item item) {
    auto [it, inserted] = keys_.try_emplace(key);
    if (inserted) it->second.turn = turns_.insert(turns_.end(), key);
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
      const auto it = keys_.find(*turn);
      if (!may(it->first, std::as_const(it->second.items.front()))) continue;
      std::optional<Item> item(std::move(it->second.items.front()));
      it->second.items.pop_front();
      --size_;
      if (it->second.items.empty()) {
        turns_.erase(turn);
        keys_.erase(it);
      } else {
        turns_.splice(turns_.end(), turns_, turn);
      }
      return item;
    }
    return std::nullopt;
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
  struct Waiting {
    std::deque<Item> items;
    typename std::list<Key>::iterator turn;
  };
  std::map<Key, Waiting> keys_;
  std::list<Key> turns_;  // the keys of keys_, the next one first
  std::size_t size_ = 0;
};

}  // namespace vedette::base
