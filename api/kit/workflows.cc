#include "api/kit/workflows.h"

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "config/rules.h"
#include "domain/monitor/timetable.h"
#include "domain/text/limits.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/run_schedule.h"
#include "net/public_address.h"

namespace vedette::rest {
namespace {

using base::Json;

Json ParsedOrNull(const std::optional<std::string>& json) {
  return json ? base::ReadJsonCell(*json) : Json(nullptr);
}

// None of one that is paused.
Json NextTimes(const store::WorkflowSchedule& schedule) {
  Json times = Json::array();
  if (!schedule.is_active) return times;
  const domain::Timetable timetable = schedule.times.TimetableOf(schedule.id);
  for (const auto time : timetable.NextTimes(schedule.next_at, domain::kNextRunTimesShown)) {
    times.push_back(base::FormatTimestamp(time));
  }
  return times;
}

Json SlotJson(const store::WorkflowSlot& slot) {
  return {{"scheduled_at", base::FormatTimestamp(slot.slot)},
          {"outcome", domain::SlotStateName(slot.state)},
          {"reason", base::OrNull(slot.reason)},
          {"run_id", base::OrNull(slot.run_id)},
          {"slots", slot.slots},
          {"decided_at", base::FormatTimestamp(slot.decided_at)}};
}

}  // namespace

domain::DefinitionRules DefinitionRulesOf(const config::Config& config,
                                          const net::AddressPolicy& policy) {
  domain::DefinitionRules rules;
  rules.url_fault = [&policy](const std::string& url) -> std::optional<std::string> {
    const net::TenantUrlResult parsed = net::ParseTenantUrl(url, policy);
    if (parsed.url) return std::nullopt;
    return parsed.error->message;
  };
  rules.new_id = [] { return base::Uuid::V4().ToString(); };
  rules.finders = config::FindersOf(config);
  return rules;
}

Json ScheduleItem(const store::WorkflowSchedule& schedule) {
  Json cron = nullptr;
  Json zone = "UTC";
  if (const auto& stored = schedule.times.schedule_json) {
    const Json by_clock = base::ParseJsonOrThrow(*stored);
    cron = by_clock.at("cron");
    zone = by_clock.at("time_zone");
  }
  Json channels = Json::array();
  for (const base::Uuid& id : schedule.channel_ids) channels.push_back(id.ToString());
  return {{"id", schedule.id.ToString()},
          {"workflow_id", schedule.workflow_id.ToString()},
          {"name", schedule.name},
          {"cron", std::move(cron)},
          {"time_zone", std::move(zone)},
          {"frequency", schedule.times.frequency},
          {"overlap", domain::OverlapName(schedule.overlap)},
          {"catch_up_s", schedule.catch_up.count()},
          {"specs_override", ParsedOrNull(schedule.specs_override_json)},
          {"channel_ids", std::move(channels)},
          {"is_active", schedule.is_active},
          {"paused_reason", base::OrNull(schedule.paused_reason)},
          {"paused_message", base::OrNull(schedule.paused_message)},
          {"next_run_times", NextTimes(schedule)},
          {"created_at", base::FormatTimestamp(schedule.created_at)},
          {"updated_at", base::FormatTimestamp(schedule.updated_at)}};
}

Json ScheduleJson(const store::WorkflowSchedule& schedule,
                  const std::vector<store::WorkflowSlot>& slots) {
  Json json = ScheduleItem(schedule);
  json["webhook_payload"] = ParsedOrNull(schedule.webhook_payload_json);
  json["history"] = Json::array();
  for (const store::WorkflowSlot& slot : slots) json["history"].push_back(SlotJson(slot));
  return json;
}

}  // namespace vedette::rest
