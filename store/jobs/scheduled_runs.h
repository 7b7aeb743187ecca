#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/monitor/timetable.h"
#include "domain/workflow/run_schedule.h"
#include "store/jobs/start.h"
#include "store/session.h"

// The runs of workflows on a schedule: which slots are due, and what became of them. The slot is
// taken in the transaction that stores its run, so that a slot starts exactly one, whenever a
// process dies. All functions throw as InTransaction does.
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

// A schedule that one process looks at.
struct DueSchedule {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  base::Uuid workflow_id;
  domain::Principal caller;
  std::vector<std::string> features;  // of the organisation
  std::optional<std::string> specs_override_json;
  std::optional<std::string> webhook_payload_json;
  int version = 0;
  domain::ScheduleMoment moment;
  domain::Timetable timetable;

  // The slot of the step, and that the schedule moves on to the next one. A late slot stands for
  // all that are late.
  SlotTaken SlotOf(const domain::SlotStep& step) const;
};

// Why the workflow of a schedule cannot run, until a client does something about it.
struct WorkflowFault {
  std::string reason;   // a code: domain::kWorkflowDeleted, kWorkflowInvalid
  std::string message;  // a sentence
};

// The schedule is not what was read of it: another process has taken the slot, or a client has
// changed it.
struct SlotIsTaken {};

// Starts a run of a schedule as StartJob does, which see, and takes its slot in the same
// transaction. Nothing where the slot is taken: then nothing is stored.
std::optional<StartOutcome> StartScheduledRun(Session& session, const base::Clock& clock,
                                              const NewJob& job, const ScheduledRun& scheduled,
                                              const StartLimits& limits);

// Leases the schedule that has waited for it longest, if one is to be looked at: nobody else looks
// at it while the lease lasts. What is done about it is fenced by its version and its slot, not by
// the lease.
std::optional<DueSchedule> ClaimSchedule(Session& session, std::chrono::milliseconds lease);

// False where the schedule is not what was read.
bool WaitAtSlot(Session& session, const SlotTaken& slot);
bool SkipSlot(Session& session, const SlotTaken& slot, std::string_view reason);
// Skips it, and pauses the schedule for the same reason.
bool PauseAtSlot(Session& session, const SlotTaken& slot, const WorkflowFault& fault);

// Nothing is to be done about it now. While a slot waits it is looked at again after `wait`.
void RestSchedule(Session& session, const DueSchedule& due, std::chrono::milliseconds wait);

// When the next schedule is to be looked at; empty where there is none.
struct NextLook {
  base::Timestamp now{};
  std::optional<base::Timestamp> next{};

  bool due() const { return next && *next <= now; }
};
NextLook ReadNextLook(Session& session);

}  // namespace vedette::store
