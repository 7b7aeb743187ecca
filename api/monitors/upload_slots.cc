#include "api/monitors/upload_slots.h"

#include "api/limits.h"

namespace vedette::api {
namespace {

// Half of all slots stay free beside one greedy organisation.
constexpr double kReserve = 0.5;

}  // namespace

UploadSlots::UploadSlots() : open_(kUploadsOpenMax, kReserve) {}

UploadSlots::Taken UploadSlots::Take(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  if (open_.full()) return Taken::kFull;
  if (!open_.MayTake(org_id)) return Taken::kShare;
  open_.Take(org_id);
  return Taken::kYes;
}

void UploadSlots::GiveBack(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  open_.GiveBack(org_id);
}

}  // namespace vedette::api
