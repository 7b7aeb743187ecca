#include "domain/workflow/run_schedule.h"

#include <algorithm>
#include <array>
#include <string>

namespace vedette::domain {
namespace {

constexpr std::array<std::string_view, 3> kOverlapNames{"skip", "queue_one", "allow"};
constexpr std::array<std::string_view, 3> kStateNames{"started", "skipped", "waiting"};

}  // namespace

std::string_view OverlapName(Overlap overlap) {
  return kOverlapNames.at(static_cast<std::size_t>(overlap));
}

std::optional<Overlap> ParseOverlap(std::string_view name) {
  const auto* const found = std::find(kOverlapNames.begin(), kOverlapNames.end(), name);
  if (found == kOverlapNames.end()) return std::nullopt;
  return static_cast<Overlap>(found - kOverlapNames.begin());
}

std::string_view SlotStateName(SlotState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}

SlotStep NextStep(const ScheduleMoment& moment) {
  using Action = SlotStep::Action;
  if (moment.waiting) {
    const base::Timestamp slot = *moment.waiting;
    if (moment.paused) return {Action::kSkip, slot, true, kSlotPaused};
    if (moment.now - slot > kCatchUpMax) return {Action::kSkip, slot, true, kSlotLate};
    if (!moment.run_open) return {Action::kStart, slot, true};
  }
  if (moment.next_at > moment.now) return {};
  const base::Timestamp slot = moment.next_at;
  if (moment.paused) return {Action::kSkip, slot, false, kSlotPaused};
  if (slot < moment.LateBefore()) return {Action::kSkip, slot, false, kSlotLate};
  // What waits is the run before the next slot, too.
  const bool overlaps = moment.run_open || moment.waiting.has_value();
  if (!overlaps || moment.overlap == Overlap::kAllow) return {Action::kStart, slot, false};
  if (moment.overlap == Overlap::kQueueOne && !moment.waiting) return {Action::kWait, slot, false};
  return {Action::kSkip, slot, false, kSlotOverlap};
}

base::Uuid RunIdOf(const base::Uuid& schedule_id, base::Timestamp slot) {
  const auto micros = slot.time_since_epoch();
  base::Uuid id = base::Uuid::V5(schedule_id, std::to_string(micros.count()));
  auto ms =
      static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(micros).count());
  for (int i = 5; i >= 0; --i) {
    id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(ms & 0xFF);
    ms >>= 8;
  }
  constexpr std::uint8_t kVersion = 0x70;
  constexpr std::uint8_t kBelowVersion = 0x0F;
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & kBelowVersion) | kVersion);
  return id;
}

}  // namespace vedette::domain
