#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/uuid.h"

namespace vedette::rest {

// Which organisation a key was of when it was last accepted here: whose turn a request takes until
// it is authenticated. A hint alone, every request is authenticated. Requests with keys that are
// not known here take one turn together, however many such keys are tried: so they are no way to
// get more turns than others, and need no limit by address, which would be one for all behind a
// load balancer. Knows at most `keys_max` keys, those used last. Any thread.
class KnownKeys {
 public:
  explicit KnownKeys(std::size_t keys_max) : half_(keys_max / 2) {}

  // `hash`: of the key, so that no key stays in memory.
  std::optional<base::Uuid> Find(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    if (const auto it = recent_.find(hash); it != recent_.end()) return it->second;
    const auto it = older_.find(hash);
    if (it == older_.end()) return std::nullopt;
    const base::Uuid org_id = it->second;
    Insert(hash, org_id);
    return org_id;
  }

  void Learn(const std::string& hash, const base::Uuid& org_id) {
    const std::lock_guard lock(mutex_);
    Insert(hash, org_id);
  }

  void Forget(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    recent_.erase(hash);
    older_.erase(hash);
  }

 private:
  void Insert(const std::string& hash, const base::Uuid& org_id) {
    if (recent_.size() >= half_) {
      older_ = std::move(recent_);
      recent_.clear();
    }
    recent_[hash] = org_id;
  }

  const std::size_t half_;
  std::mutex mutex_;
  // Both guarded by mutex_. Keys used since older_ was recent_ are in recent_.
  std::unordered_map<std::string, base::Uuid> recent_;
  std::unordered_map<std::string, base::Uuid> older_;
};

}  // namespace vedette::rest
