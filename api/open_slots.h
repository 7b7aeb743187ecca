#pragma once

#include <cstddef>
#include <mutex>

#include "base/fair_share.h"
#include "base/uuid.h"

namespace vedette::api {

// What of one kind is under way in one process, uploads or downloads, `total` at most. An
// organisation that is alone may have half of them; n greedy ones have equal shares, and some stay
// free for the next (G10). Any thread.
class OpenSlots {
 public:
  explicit OpenSlots(std::size_t total);

  enum class Taken {
    kYes,    // to be given back
    kShare,  // the organisation has its share
    kFull,   // nothing is free
  };
  Taken Take(const base::Uuid& org_id);
  void GiveBack(const base::Uuid& org_id);

 private:
  std::mutex mutex_;
  base::FairShares<base::Uuid> open_;  // by organisation; guarded by mutex_
};

}  // namespace vedette::api
