#include "api/open_slots.h"

namespace vedette::api {
namespace {

// Half of all slots stay free beside one greedy organisation.
constexpr double kReserve = 0.5;

}  // namespace

OpenSlots::OpenSlots(std::size_t total) : open_(total, kReserve) {}

OpenSlots::Taken OpenSlots::Take(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  if (open_.full()) return Taken::kFull;
  if (!open_.MayTake(org_id)) return Taken::kShare;
  open_.Take(org_id);
  return Taken::kYes;
}

void OpenSlots::GiveBack(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  open_.GiveBack(org_id);
}

}  // namespace vedette::api
