#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"

// Workflows on a schedule: what becomes of a slot. Pure; times are the database's.
//
//   due --> started
//       --> waits (queue_one) --> started
//       |                     --> skipped
//       --> skipped
namespace vedette::domain {

inline constexpr int kWorkflowSchedulesMax = 100;  // of an organisation
inline constexpr std::size_t kScheduleNameCharsMax = 200;
inline constexpr std::size_t kSchedulePayloadBytesMax = std::size_t{256} << 10;
inline constexpr std::size_t kScheduleOverrideBytesMax = std::size_t{64} << 10;
inline constexpr int kSlotsKept = 100;  // of a schedule, the newest: its history
inline constexpr std::chrono::seconds kCatchUpDefault{3600};
// A slot waits no longer, however long the run before it takes: the id of its run says its day, and
// the rows of that day go with it.
inline constexpr std::chrono::seconds kCatchUpMax = std::chrono::hours(24);

// A slot that is looked at so soon after its time was not missed, whatever its schedule says: looks
// are never made in the same instant.
inline constexpr std::chrono::seconds kSlotPunctual{60};

// What happens at a slot while a run of the schedule goes on. The numbers are stored: never
// renumber; likewise below.
enum class Overlap : std::uint8_t { kSkip = 0, kQueueOne = 1, kAllow = 2 };
std::string_view OverlapName(Overlap overlap);  // "skip", "queue_one", "allow"
std::optional<Overlap> ParseOverlap(std::string_view name);

enum class SlotState : std::uint8_t { kStarted = 0, kSkipped = 1, kWaiting = 2 };
std::string_view SlotStateName(SlotState state);  // "started", "skipped", "waiting"

// Why a slot was skipped, or a schedule is paused.
inline constexpr std::string_view kSlotOverlap = "overlap";
inline constexpr std::string_view kSlotPaused = "paused";
inline constexpr std::string_view kSlotLate = "late";
inline constexpr std::string_view kSlotTooManyRuns = "too_many_runs";
inline constexpr std::string_view kWorkflowDeleted = "workflow_deleted";
inline constexpr std::string_view kWorkflowInvalid = "workflow_invalid";
inline constexpr std::string_view kPausedByOperator = "operator";

// What is known of a schedule at `now`.
struct ScheduleMoment {
  base::Timestamp now{};
  base::Timestamp next_at{};                 // its first slot that nothing was decided about
  std::optional<base::Timestamp> waiting{};  // the slot that waits for the run before it
  std::chrono::seconds catch_up = kCatchUpDefault;
  Overlap overlap = Overlap::kSkip;
  bool paused = false;    // by the client, or its organisation is locked
  bool run_open = false;  // a run of the schedule goes on

  // Slots before it are late.
  base::Timestamp LateBefore() const { return now - std::max(catch_up, kSlotPunctual); }
};

// The next thing to do.
struct SlotStep {
  enum class Action : std::uint8_t { kNothing, kStart, kWait, kSkip };
  Action action = Action::kNothing;
  base::Timestamp slot{};     // not of kNothing
  bool was_waiting = false;   // it is the one that waits
  std::string_view reason{};  // of kSkip
};
SlotStep NextStep(const ScheduleMoment& moment);

// The id of the run of a slot, the same in every process. It sorts as of the slot's time.
base::Uuid RunIdOf(const base::Uuid& schedule_id, base::Timestamp slot);

}  // namespace vedette::domain
