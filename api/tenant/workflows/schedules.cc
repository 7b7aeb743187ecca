#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/workflows.h"
#include "api/tenant/call.h"
#include "api/tenant/channels/channel_ids.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "api/tenant/monitors/schedule_body.h"
#include "api/tenant/workflows/run_calls.h"
#include "api/tenant/workflows/run_start.h"
#include "base/json.h"
#include "config/parts.h"
#include "domain/monitor/timetable.h"
#include "domain/text/limits.h"
#include "domain/workflow/run_schedule.h"
#include "store/jobs/start.h"
#include "store/workflows/schedules.h"
#include "store/workflows/workflows.h"

// The routes of workflows on a schedule.
namespace vedette::api {
namespace {

using rest::BodyReader;
using rest::Presence;

// The workflow that the path names; a 404. One that was deleted shows its schedules still, as they
// say that it was.
base::Uuid FindWorkflow(Call& call, store::Deleted deleted) {
  const base::Uuid id = call.Id(0, "workflow");
  if (!store::GetWorkflow(call.session(), call.caller.org_id, id, deleted)) {
    throw rest::Refusal(rest::NotFound("workflow"));
  }
  return id;
}

store::SchedulePlace PlaceOf(Call& call) {
  return {call.caller.org_id, call.Id(0, "workflow"), call.Id(1, "schedule")};
}

store::WorkflowSchedule FindSchedule(Call& call) {
  auto found = store::GetWorkflowSchedule(call.session(), PlaceOf(call));
  if (!found) throw rest::Refusal(rest::NotFound("schedule"));
  return std::move(*found);
}

rest::Reply Shown(Call& call, const store::WorkflowSchedule& schedule) {
  return rest::JsonReply(
      200, rest::ScheduleJson(schedule, store::ListWorkflowSlots(call.session(), schedule.id)));
}

// What a body says of a schedule; absent is what it does not say.
struct ScheduleBody {
  std::optional<std::string> name;
  std::optional<std::string> frequency;
  std::optional<domain::ScheduleOrder> cron;
  std::optional<domain::Overlap> overlap;
  std::optional<std::chrono::seconds> catch_up;
  std::optional<std::optional<std::string>> specs_override_json;
  std::optional<std::optional<std::string>> webhook_payload_json;
  std::optional<std::vector<base::Uuid>> channel_ids;
  std::optional<bool> is_active;
};

// `stored`: what the schedule has by now of the clock; what is left out of it stays.
void ReadTimesMembers(const base::Json& members, const domain::ScheduleOrder& stored,
                      BodyReader* reader, rest::Problems* problems, ScheduleBody* body) {
  const bool has_cron = reader->Member("cron", Presence::kOptional) != nullptr;
  const bool has_zone = reader->Member("time_zone", Presence::kOptional) != nullptr;
  body->frequency = reader->Text("frequency", Presence::kOptional, 0, domain::kWordCharsMax);
  if (has_cron && body->frequency) {
    reader->Refuse("cron", "Give cron or frequency, not both");
  } else if (has_cron || (has_zone && !body->frequency && !stored.cron.empty())) {
    body->cron = stored;
    ReadCronAndZone(members, base::Json::array({"body"}), problems, &*body->cron);
  } else if (reader->Text("time_zone", Presence::kOptional, 0, domain::kWordCharsMax)
                 .value_or("UTC") != "UTC") {
    reader->Refuse("time_zone",
                   "A time zone goes with cron, not with a frequency: give cron instead of that");
  }
}

// The member as JSON text, or none where it is null; absent where it is not there.
std::optional<std::optional<std::string>> ReadTextOf(BodyReader* reader, const char* name,
                                                     std::size_t bytes_max) {
  if (!reader->Has(name)) return std::nullopt;
  const base::Json* member = reader->Member(name, Presence::kOptional);
  if (member == nullptr) return std::optional<std::string>();
  std::string text = base::DumpJson(*member);
  if (text.size() > bytes_max) {
    reader->Refuse(name, fmt::format("Input should have at most {} bytes as JSON", bytes_max));
  }
  return std::optional<std::string>(std::move(text));
}

ScheduleBody ReadScheduleBody(const base::Json& members, Presence name,
                              const domain::ScheduleOrder& stored, rest::Problems* problems) {
  BodyReader reader(members, problems);
  ScheduleBody body;
  body.name = reader.FilledText("name", name, domain::kScheduleNameCharsMax);
  ReadTimesMembers(members, stored, &reader, problems, &body);
  if (const auto word = reader.Text("overlap", Presence::kOptional, 0, domain::kWordCharsMax)) {
    body.overlap = domain::ParseOverlap(*word);
    if (!body.overlap) reader.Refuse("overlap", "Input should be skip, queue_one or allow");
  }
  constexpr int kMost = static_cast<int>(domain::kCatchUpMax.count());
  if (const auto given = reader.Integer("catch_up_s", Presence::kOptional, 0, kMost)) {
    body.catch_up = std::chrono::seconds(*given);
  }
  const base::Json* given = reader.Member("specs_override", Presence::kOptional);
  if (given != nullptr && !given->is_object()) {
    problems->Add(BodyReader::Loc("specs_override"), "dict_type", "Input should be an object",
                  *given);
  }
  body.specs_override_json =
      ReadTextOf(&reader, "specs_override", domain::kScheduleOverrideBytesMax);
  body.webhook_payload_json =
      ReadTextOf(&reader, "webhook_payload", domain::kSchedulePayloadBytesMax);
  if (reader.Has("channel_ids")) body.channel_ids = ReadChannelIds(&reader, problems);
  body.is_active = reader.Boolean("is_active", Presence::kOptional);
  reader.Finish();
  return body;
}

// The times in the body, if there are any; refuses as those of monitors are refused.
std::optional<store::RunTimes> TimesOf(const Call& call, ScheduleBody* body) {
  const config::LimitsConfig& limits = call.parts.config.limits;
  if (body->frequency) {
    const Frequency frequency = ReadFrequency(*body->frequency, limits);
    CheckFrequency(call, frequency.needs_testing);
    return store::RunTimes{*body->frequency, frequency.period, std::nullopt, {}};
  }
  if (!body->cron) return std::nullopt;
  CheckFrequency(call, CheckDistances(limits, call.parts.clock.Now(), &*body->cron));
  const std::chrono::seconds shortest = body->cron->distances.shortest;
  return store::RunTimes{
      domain::DurationText(shortest), shortest, domain::StoredSchedule(*body->cron), {}};
}

// Refuses what the workflow cannot be run with now.
void CheckRuns(Call& call, const base::Uuid& workflow_id,
               const std::optional<std::string>& specs_override_json,
               const std::optional<std::string>& webhook_payload_json) {
  const auto workflow = store::GetWorkflowToRun(call.session(), call.caller.org_id, workflow_id);
  if (!workflow) {
    throw rest::Refusal(409, domain::kWorkflowDeleted,
                        "the workflow was deleted: its schedules stay paused");
  }
  PlanScheduledRun(RunContextOf(call), *workflow, specs_override_json, webhook_payload_json);
}

store::ScheduleOwner OwnerOf(const Call& call) {
  return {call.caller.team_id, call.caller.principal};
}

// What an update asks for, validated by what else the schedule says.
store::WorkflowScheduleChange ReadScheduleChange(Call& call, const base::Json& members,
                                                 const store::WorkflowSchedule& found) {
  const auto stored = found.times.schedule_json
                          ? domain::ParseStoredSchedule(*found.times.schedule_json)
                          : domain::ScheduleOrder();
  rest::Problems problems;
  ScheduleBody body = ReadScheduleBody(members, Presence::kOptional, stored, &problems);
  problems.Check();
  store::WorkflowScheduleChange change{.of_version = found.version};
  change.name = std::move(body.name);
  change.times = TimesOf(call, &body);
  change.overlap = body.overlap;
  change.catch_up = body.catch_up;
  change.specs_override_json = std::move(body.specs_override_json);
  change.webhook_payload_json = std::move(body.webhook_payload_json);
  change.channel_ids = std::move(body.channel_ids);
  if (change.channel_ids) CheckChannels(call, *change.channel_ids);
  change.is_active = body.is_active;
  change.owner = OwnerOf(call);
  if (change.webhook_payload_json && *change.webhook_payload_json) CheckMaySendPayload(call);
  // What a paused one does not run with is taken whatever has become of the workflow.
  const bool has_input = change.specs_override_json || change.webhook_payload_json;
  if (has_input || body.is_active.value_or(found.is_active)) {
    CheckRuns(call, found.workflow_id,
              change.specs_override_json.value_or(found.specs_override_json),
              change.webhook_payload_json.value_or(found.webhook_payload_json));
  }
  return change;
}

}  // namespace

rest::Handled CreateSchedule(Call& call) {
  const base::Uuid workflow_id = FindWorkflow(call, store::Deleted::kHidden);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  ScheduleBody body = ReadScheduleBody(json.members, Presence::kRequired, {}, &problems);
  if (!body.cron && !body.frequency && !problems.any()) {
    problems.Add(BodyReader::Loc("cron"), "missing", "Give cron or frequency");
  }
  problems.Check();
  store::NewWorkflowSchedule schedule;
  schedule.org_id = call.caller.org_id;
  schedule.workflow_id = workflow_id;
  schedule.name = *body.name;
  schedule.times = *TimesOf(call, &body);
  schedule.overlap = body.overlap.value_or(domain::Overlap::kSkip);
  schedule.catch_up = body.catch_up.value_or(domain::kCatchUpDefault);
  schedule.specs_override_json = body.specs_override_json.value_or(std::nullopt);
  schedule.webhook_payload_json = body.webhook_payload_json.value_or(std::nullopt);
  schedule.channel_ids = body.channel_ids.value_or(std::vector<base::Uuid>());
  CheckChannels(call, schedule.channel_ids);
  schedule.is_active = body.is_active.value_or(true);
  schedule.owner = OwnerOf(call);
  if (schedule.webhook_payload_json) CheckMaySendPayload(call);
  CheckRuns(call, workflow_id, schedule.specs_override_json, schedule.webhook_payload_json);
  const auto made = store::CreateWorkflowSchedule(call.session(), call.parts.clock, schedule,
                                                  AuditOf(call, "schedule.create"));
  if (made.kind == store::ScheduleOutcome::Kind::kNotFound) return rest::NotFound("workflow");
  if (made.kind == store::ScheduleOutcome::Kind::kTooMany) {
    return rest::ErrorReply(409, "too_many_schedules",
                            fmt::format("an organisation has at most {} schedules: delete one",
                                        domain::kWorkflowSchedulesMax));
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return Shown(call, made.schedule);
}

rest::Handled ListSchedules(Call& call) {
  const base::Uuid workflow_id = FindWorkflow(call, store::Deleted::kShown);
  base::Json list = base::Json::array();
  for (const store::WorkflowSchedule& schedule :
       store::ListWorkflowSchedules(call.session(), call.caller.org_id, workflow_id)) {
    list.push_back(rest::ScheduleItem(schedule));
  }
  return rest::JsonReply(200, {{"schedules", std::move(list)}});
}

rest::Handled ShowSchedule(Call& call) {
  return Shown(call, FindSchedule(call));
}

rest::Handled UpdateSchedule(Call& call) {
  const store::WorkflowSchedule found = FindSchedule(call);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  if (json.members.empty()) {
    rest::Problems problems;
    problems.Add(base::Json::array({"body"}), "too_short", "Name at least one field to change");
    problems.Check();
  }
  auto change = ReadScheduleChange(call, json.members, found);
  const auto update = [&] {
    return store::UpdateWorkflowSchedule(call.session(), call.parts.clock, PlaceOf(call), change,
                                         AuditOf(call, "schedule.update"));
  };
  const auto outcome = WriteValidated(
      update, [&] { change = ReadScheduleChange(call, json.members, FindSchedule(call)); });
  if (outcome.kind == store::ScheduleOutcome::Kind::kChanged) return ChangedMeanwhile("schedule");
  if (outcome.kind == store::ScheduleOutcome::Kind::kNotFound) return rest::NotFound("schedule");
  call.parts.signals.Raise(store::Signal::kDue);
  return Shown(call, outcome.schedule);
}

rest::Handled DeleteSchedule(Call& call) {
  const store::SchedulePlace place = PlaceOf(call);
  if (!store::DeleteWorkflowSchedule(call.session(), call.parts.clock, place,
                                     AuditOf(call, "schedule.delete"))) {
    return rest::NotFound("schedule");
  }
  return rest::JsonReply(200, {{"id", place.id.ToString()}, {"deleted", true}});
}

rest::Handled TriggerSchedule(Call& call) {
  const store::SchedulePlace place = PlaceOf(call);
  const auto idempotency =
      ReadIdempotency(call, "/workflows/schedules/trigger?" + place.id.ToString());
  if (idempotency) {
    // A repetition gets the first answer, whatever has become of the schedule.
    const auto known = store::FindJobStart(call.session(), call.caller.org_id, *idempotency);
    if (known) return RunReply(call, place.workflow_id, *known);
  }
  const store::WorkflowSchedule found = FindSchedule(call);
  CheckEmptyBody(call);
  const auto workflow =
      store::GetWorkflowToRun(call.session(), call.caller.org_id, found.workflow_id);
  if (!workflow) return rest::NotFound("workflow");
  store::NewJob job = PlanScheduledRun(RunContextOf(call), *workflow, found.specs_override_json,
                                       found.webhook_payload_json);
  job.idempotency = idempotency;
  return StartRun(call, found.workflow_id, job, found.id);
}

}  // namespace vedette::api
