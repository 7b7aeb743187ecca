#include "worker/checks/claim_room.h"

#include <algorithm>

#include "config/limits_config.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "lease/holdings.h"

namespace vedette::worker {
namespace {

// What is claimed ahead until it is known how long checks take.
constexpr std::size_t kRowsAheadFirst = 64;
// The least by which claiming ahead grows.
constexpr std::size_t kRowsAheadStep = 16;
// It shrinks by an eighth, rounded up.
constexpr std::size_t kRowsAheadShrink = 8;
// Rows of held chunks for one that is without an outcome: chunks whose last checks take long do not
// keep a worker from claiming more, up to this.
constexpr std::size_t kHeldPerOpen = 4;

}  // namespace

ClaimAhead::ClaimAhead(std::size_t rows_max)
    : rows_max_(rows_max), rows_(std::min(kRowsAheadFirst, rows_max)) {}

void ClaimAhead::RanOut() {
  rows_ = std::min(std::max(rows_ * 2, kRowsAheadStep), rows_max_);
}

void ClaimAhead::FoundWaiting(std::size_t rows_waiting) {
  if (rows_waiting > rows_ / 2) rows_ -= (rows_ + kRowsAheadShrink - 1) / kRowsAheadShrink;
}

RoomLimits RoomLimitsOf(const config::Config& config) {
  RoomLimits limits;
  limits.slots_max = static_cast<std::size_t>(config.worker.checks_in_flight_max);
  limits.chunk_rows_max = static_cast<std::size_t>(config.worker.chunk_rows_max);
  limits.bytes_max = config.worker.rows_held_bytes_max;
  limits.row_bytes_max = config.limits.row_bytes_max;
  limits.newcomer_share = config.worker.newcomer_share;
  return limits;
}

std::size_t FreeSlots(const RoomLimits& limits, const CheckHoldings& holdings) {
  return lease::LeftOf(limits.slots_max, holdings.InLane().in_flight);
}

lease::Room RoomOf(const RoomLimits& limits, const CheckHoldings& holdings,
                   std::size_t rows_ahead) {
  const lease::Load& held = holdings.InLane();
  lease::Room room;
  room.slots_max = limits.slots_max;
  room.in_flight = held.in_flight;
  room.newcomer_share = limits.newcomer_share;
  room.rows_max = limits.slots_max + rows_ahead;
  room.rows_open = held.rows_open;
  const std::size_t held_max = kHeldPerOpen * room.rows_max;
  const std::size_t over_max = held_max + room.rows_max + limits.chunk_rows_max;
  const std::size_t bytes_over_max =
      limits.bytes_max + limits.chunk_rows_max * limits.row_bytes_max;
  const auto rows_in = [&](std::size_t bytes_max) {
    return lease::LeftOf(bytes_max, held.bytes) / limits.row_bytes_max;
  };
  room.rows_left = std::min(lease::LeftOf(held_max, held.rows), rows_in(limits.bytes_max));
  room.rows_left_for_slots = std::min(lease::LeftOf(over_max, held.rows), rows_in(bytes_over_max));
  return room;
}

std::vector<lease::Asking> AskingOf(const std::vector<store::DueOrg>& due,
                                    const CheckHoldings& holdings) {
  std::vector<lease::Asking> asking;
  asking.reserve(due.size());
  for (const store::DueOrg& org : due) {
    lease::Asking& a = asking.emplace_back();
    a.org_id = org.org_id;
    a.first_rows = static_cast<std::size_t>(org.rows);
    const CheckOrgLoad* load = holdings.FindOrg(org.org_id);
    if (load == nullptr) continue;
    a.rows_open = load->rows_open;
    a.in_flight = load->in_flight;
    a.newcomer = !org.large_monitor_id || !load->large_chunks.contains(*org.large_monitor_id);
  }
  return asking;
}

}  // namespace vedette::worker
