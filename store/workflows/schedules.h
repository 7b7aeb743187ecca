#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/monitor/timetable.h"
#include "domain/workflow/run_schedule.h"
#include "store/audit.h"
#include "store/session.h"

// Schedules of workflows, as clients make them; store/jobs/scheduled_runs.h starts their runs. They
// belong to an organisation, whatever the caller's team; every function sees only that
// organisation's (G8), and throws as InTransaction does.
namespace vedette::store {

// When a workflow runs, as it is stored (domain/monitor/timetable.h).
struct RunTimes {
  std::string frequency;  // of a schedule by the clock the shortest distance of its slots
  std::chrono::seconds period{0};
  std::optional<std::string> schedule_json;  // by the clock
  base::Timestamp anchor_at{};               // a new schedule's, and other times', are from now on

  domain::Timetable TimetableOf(const base::Uuid& schedule_id) const {
    return domain::Timetable::Since(anchor_at, period, schedule_json, schedule_id);
  }
};

struct WorkflowSchedule {
  base::Uuid id;
  base::Uuid org_id;
  base::Uuid workflow_id;
  std::string name;
  RunTimes times;
  domain::Overlap overlap = domain::Overlap::kSkip;
  std::chrono::seconds catch_up{0};
  std::optional<std::string> specs_override_json;
  std::optional<std::string> webhook_payload_json;  // not in a list
  std::vector<base::Uuid> channel_ids;              // as given; one may have been deleted
  bool is_active = true;
  std::optional<std::string> paused_reason;  // where it was not the client: a code and a sentence
  std::optional<std::string> paused_message;
  base::Timestamp next_at{};
  base::Timestamp created_at{};
  base::Timestamp updated_at{};
  int version = 0;  // grows with each change that a client makes
};

// For whom its runs are: who changed it last.
struct ScheduleOwner {
  std::optional<base::Uuid> team_id;
  domain::Principal caller;
};

struct NewWorkflowSchedule {
  base::Uuid org_id;
  base::Uuid workflow_id;
  std::string name;
  RunTimes times;
  domain::Overlap overlap = domain::Overlap::kSkip;
  std::chrono::seconds catch_up = domain::kCatchUpDefault;
  std::optional<std::string> specs_override_json;
  std::optional<std::string> webhook_payload_json;
  std::vector<base::Uuid> channel_ids;  // of the organisation's
  bool is_active = true;
  ScheduleOwner owner;
};
struct ScheduleOutcome {
  // kNotFound: the schedule, or the workflow of a new one. kTooMany: kWorkflowSchedulesMax.
  enum class Kind { kDone, kNotFound, kChanged, kTooMany };
  Kind kind = Kind::kDone;
  WorkflowSchedule schedule;  // as it is now, where it was done
};
// Its first slot comes after now.
ScheduleOutcome CreateWorkflowSchedule(Session& session, const base::Clock& clock,
                                       const NewWorkflowSchedule& schedule, AuditEntry audit);

// Newest first.
std::vector<WorkflowSchedule> ListWorkflowSchedules(Session& session, const base::Uuid& org_id,
                                                    const base::Uuid& workflow_id);

// Which schedule of a workflow is meant.
struct SchedulePlace {
  base::Uuid org_id;
  base::Uuid workflow_id;
  base::Uuid id;
};
std::optional<WorkflowSchedule> GetWorkflowSchedule(Session& session, const SchedulePlace& place);

// Absent = unchanged.
struct WorkflowScheduleChange {
  int of_version = 0;  // of the schedule by which the change was validated
  std::optional<std::string> name;
  std::optional<RunTimes> times;
  std::optional<domain::Overlap> overlap;
  std::optional<std::chrono::seconds> catch_up;
  // The inner one is empty where it is to be none.
  std::optional<std::optional<std::string>> specs_override_json;
  std::optional<std::optional<std::string>> webhook_payload_json;
  std::optional<std::vector<base::Uuid>> channel_ids;  // of the organisation's
  std::optional<bool> is_active;
  ScheduleOwner owner;
};
// Changes all or nothing. Changed: the schedule has been updated since `of_version`; no slot does
// that. A slot that is due stays due; what was read of the schedule before starts no run any more.
ScheduleOutcome UpdateWorkflowSchedule(Session& session, const base::Clock& clock,
                                       const SchedulePlace& place,
                                       const WorkflowScheduleChange& change, AuditEntry audit);

// False where there is no such schedule. Its runs go on.
bool DeleteWorkflowSchedule(Session& session, const base::Clock& clock, const SchedulePlace& place,
                            AuditEntry audit);

// For the operator, who sees every organisation's.

std::optional<WorkflowSchedule> FindWorkflowSchedule(Session& session, const base::Uuid& id);

struct SchedulePageFilter {
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> workflow_id;
  std::optional<bool> is_active;
  std::optional<base::Uuid> before;
  int limit = 0;
};
// Newest first, without their payloads.
std::vector<WorkflowSchedule> ListSchedulesPage(Session& session, const SchedulePageFilter& filter);

// Pauses it with domain::kPausedByOperator and a sentence. False where there is no such schedule.
bool PauseScheduleFor(Session& session, const base::Clock& clock, const base::Uuid& id,
                      const std::string& message, const AuditEntry& audit);

enum class Resumed { kDone, kNotPaused, kTeamDeleted };

// Lets one that is paused go on, for whom it was. One that is not there is not paused.
Resumed ResumeSchedule(Session& session, const base::Clock& clock, const base::Uuid& id,
                       const AuditEntry& audit);

// What became of a slot.
struct WorkflowSlot {
  base::Timestamp slot{};
  domain::SlotState state = domain::SlotState::kStarted;
  std::optional<std::string> reason;  // of a skipped one
  std::int64_t slots = 1;             // that it stands for
  std::optional<base::Uuid> run_id;
  base::Timestamp decided_at{};
};
// The newest kSlotsKept of a schedule that the caller found in scope, newest first.
std::vector<WorkflowSlot> ListWorkflowSlots(Session& session, const base::Uuid& schedule_id);

}  // namespace vedette::store
