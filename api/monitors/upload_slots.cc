#include "api/monitors/upload_slots.h"

#include "api/limits.h"
#include "base/fair_share.h"

namespace vedette::api {
namespace {

// Half of all slots stay free beside one greedy organisation.
constexpr double kReserve = 0.5;

}  // namespace

UploadSlots::Taken UploadSlots::Take(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  if (used_ >= kUploadsOpenMax) return Taken::kFull;
  const auto it = by_org_.find(org_id);
  const std::size_t held = it == by_org_.end() ? 0 : it->second;
  if (!base::MayTakeMore(held, used_, kUploadsOpenMax, kReserve)) return Taken::kShare;
  ++by_org_[org_id];
  ++used_;
  return Taken::kYes;
}

void UploadSlots::GiveBack(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  const auto it = by_org_.find(org_id);
  if (--it->second == 0) by_org_.erase(it);
  --used_;
}

}  // namespace vedette::api
