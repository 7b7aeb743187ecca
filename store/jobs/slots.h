#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/workflow/run_schedule.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// A slot of a schedule that something is decided about, by what was read of the schedule.
struct SlotTaken {
  base::Uuid schedule_id;
  int version = 0;  // of the schedule, when it was read
  base::Timestamp slot{};
  bool was_waiting = false;   // it is the one that waits for the run before it
  base::Timestamp next_at{};  // the slot after it, or after those that it stands for
  std::int64_t slots = 1;     // that it stands for
};

// What makes a run that nobody asks for at that moment.
struct ScheduledRun {
  base::Uuid schedule_id;
  std::optional<SlotTaken> slot;  // none of a run that was triggered
};

// Internal to store/: decides about the slot in the caller's transaction, and moves the schedule
// on, whose row is locked from here on. False where the schedule is not what was read: then nothing
// happened. `reason`: of a skipped one; `run_id`: of a started one.
bool DecideSlot(Transaction& tx, const SlotTaken& slot, domain::SlotState state,
                const std::optional<std::string_view>& reason,
                const std::optional<base::Uuid>& run_id);

}  // namespace vedette::store
