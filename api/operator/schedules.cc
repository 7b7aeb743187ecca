#include <string>
#include <utility>

#include "api/kit/cursor.h"
#include "api/kit/workflows.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "domain/workflow/run_schedule.h"
#include "store/workflows/schedules.h"
#include "store/workflows/workflows.h"

// Schedules of workflows, of every organisation. What makes, changes and runs one is the public
// API's (monitors.cc).
namespace vedette::admin {
namespace {

constexpr rest::CursorOf kScheduleList{'c'};

rest::Reply NoSchedule() {
  return rest::NotFound("schedule");
}

// What it gives its runs may be about people: it is left out where it is not asked for.
base::Json OfOrganisation(base::Json shown, const store::WorkflowSchedule& schedule,
                          bool with_rows) {
  shown["org_id"] = schedule.org_id.ToString();
  if (with_rows) return shown;
  for (const char* given : {"webhook_payload", "specs_override"}) shown.erase(given);
  return shown;
}

base::Json ItemJson(const store::WorkflowSchedule& schedule) {
  return OfOrganisation(rest::ScheduleItem(schedule), schedule, false);
}

rest::Reply Shown(Call& call, bool with_rows = false) {
  const auto schedule = store::FindWorkflowSchedule(call.session(), call.Id(0));
  if (!schedule) return NoSchedule();
  const auto slots = store::ListWorkflowSlots(call.session(), schedule->id);
  if (with_rows) AuditRows(call, "schedule.rows", schedule->org_id);
  return rest::JsonReply(
      200, OfOrganisation(rest::ScheduleJson(*schedule, slots), *schedule, with_rows));
}

}  // namespace

rest::Handled GetSchedules(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::SchedulePageFilter filter;
  filter.org_id = input.Id("org_id");
  filter.workflow_id = input.Id("workflow_id");
  const auto status = input.Text("status");
  if (status && !status->empty()) {
    filter.is_active = *status == "active";
    if (*status != "active" && *status != "paused") {
      input.Refuse("status", "enum", "Input should be active or paused");
    }
  }
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    filter.before = rest::DecodeIdCursor(kScheduleList, *list.cursor);
    if (!filter.before) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  return ListReply(rest::CutPage(store::ListSchedulesPage(call.session(), filter), list.limit,
                                 [](const store::WorkflowSchedule& schedule) {
                                   return rest::EncodeCursor(kScheduleList, schedule.id);
                                 }),
                   ItemJson);
}

// With rows=true also what it gives its runs, which the audit keeps.
rest::Handled GetSchedule(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const bool with_rows = input.Boolean("rows", false);
  problems.Check();
  return Shown(call, with_rows);
}

rest::Handled PostSchedulePause(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  body.Check();
  if (!store::PauseScheduleFor(call.session(), call.parts.clock, call.Id(0),
                               ReasonShown(*reason, call),
                               AuditOf(call, "schedule.pause", reason))) {
    return NoSchedule();
  }
  return Shown(call);
}

rest::Handled PostScheduleResume(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const auto found = store::FindWorkflowSchedule(call.session(), call.Id(0));
  if (!found) return NoSchedule();
  if (!store::GetWorkflowToRun(call.session(), found->org_id, found->workflow_id)) {
    return rest::ErrorReply(409, domain::kWorkflowDeleted,
                            "the workflow was deleted: its schedules stay paused");
  }
  const auto resumed = store::ResumeSchedule(call.session(), call.parts.clock, found->id,
                                             AuditOf(call, "schedule.resume", reason));
  if (resumed == store::Resumed::kNotPaused) return rest::Conflict("the schedule is not paused");
  if (resumed == store::Resumed::kTeamDeleted) {
    return rest::ErrorReply(409, "team_deleted",
                            "the team that the schedule runs for was deleted: update it with "
                            "is_active true, and it runs for the organisation");
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return Shown(call);
}

}  // namespace vedette::admin
