#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/recent_map.h"
#include "base/uuid.h"

namespace vedette::rest {

// Which organisation a key was of when it was last accepted here: whose turn a request takes until
// it is authenticated. A hint alone, every request is authenticated. Requests with keys that are
// not known here take one turn together, however many such keys are tried: so they are no way to
// get more turns than others, and need no limit by address, which would be one for all behind a
// load balancer. Knows at most `keys_max` keys, those used last. Any thread.
class KnownKeys {
 public:
  explicit KnownKeys(std::size_t keys_max) : keys_(keys_max) {}

  // `hash`: of the key, so that no key stays in memory.
  std::optional<base::Uuid> Find(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    return keys_.Find(hash);
  }

  void Learn(const std::string& hash, const base::Uuid& org_id) {
    const std::lock_guard lock(mutex_);
    keys_.Insert(hash, org_id);
  }

  void Forget(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    keys_.Erase(hash);
  }

 private:
  std::mutex mutex_;
  base::RecentMap<std::string, base::Uuid> keys_;  // guarded by mutex_
};

}  // namespace vedette::rest
