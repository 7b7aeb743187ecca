#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

namespace vedette::base {

// A map that forgets: it knows at most `entries_max` entries, and of those used last at least half
// as many. No lock: the owner has one.
template <typename Key, typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t entries_max) : half_(entries_max / 2) {}

  // The value, which is used now.
  std::optional<Value> Find(const Key& key) {
    if (const auto it = recent_.find(key); it != recent_.end()) return it->second;
    const auto it = older_.find(key);
    if (it == older_.end()) return std::nullopt;
    Value value = it->second;
    Insert(key, value);
    return value;
  }

  void Insert(const Key& key, Value value) {
    if (recent_.size() >= half_) {
      older_ = std::move(recent_);
      recent_.clear();
    }
    recent_.insert_or_assign(key, std::move(value));
  }

  void Erase(const Key& key) {
    recent_.erase(key);
    older_.erase(key);
  }

 private:
  const std::size_t half_;
  // What was used since older_ was recent_ is in recent_.
  std::unordered_map<Key, Value> recent_;
  std::unordered_map<Key, Value> older_;
};

}  // namespace vedette::base
