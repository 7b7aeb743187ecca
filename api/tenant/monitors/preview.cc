#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "api/kit/body.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "api/tenant/monitors/schedule_body.h"
#include "api/tenant/outgoing.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "domain/monitor/observation.h"
#include "domain/text/limits.h"

namespace vedette::api {
namespace {

// The rows of a body that are looked at: its first ones.
constexpr std::size_t kPreviewRowsMax = 5;
// The part of an observed value that is shown; a check keeps it whole.
constexpr std::size_t kShownCharactersMax = 4096;
constexpr const char* kNamedBy = "preview";

std::string Sentence(const domain::Failure& failure) {
  return failure.error_class + ": " + failure.message;
}

base::Json FieldJson(const domain::FieldObservation& field) {
  base::Json value = field.value.Value();
  if (value.is_string()) {
    value = base::CutCharacters(value.get_ref<const std::string&>(), kShownCharactersMax);
  }
  base::Json confidence;
  if (field.confidence) confidence = *field.confidence;
  return {{"value", std::move(value)},
          {"evidence", field.evidence.empty() ? base::Json() : base::Json(field.evidence)},
          {"sources", field.sources},
          {"confidence", std::move(confidence)}};
}

// `observed` has the fields in which something was found, or looked for and not found (value null).
base::Json RowJson(const std::string& subject_json, const domain::ObservationResult& result) {
  base::Json subject;
  base::ParseJson(subject_json, &subject, {.keep_numbers = true});  // our own text
  base::Json row{{"subject", std::move(subject)},
                 {"observed", base::Json::object()},
                 {"unread", base::Json::object()},
                 {"error", nullptr}};
  if (const auto* failure = std::get_if<domain::Failure>(&result)) {
    row["error"] = Sentence(*failure);
    return row;
  }
  const auto& seen = std::get<domain::Observation>(result);
  for (const auto& [name, field] : seen.fields) row["observed"][name] = FieldJson(field);
  for (const auto& [name, failure] : seen.unread) row["unread"][name] = Sentence(failure);
  return row;
}

// Base64 as RFC 4648, section 4, has it: what every browser decodes.
std::string Base64(std::string_view bytes) {
  std::string text = base::Base64UrlEncode(bytes);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

// Null where the page was not rendered.
base::Json ScreenshotJson(const PreviewOutcome& outcome) {
  if (outcome.picture.empty()) return nullptr;
  base::Json elements = base::Json::array();
  base::Json listed;
  if (!base::ParseJson(outcome.elements, &listed) && listed.is_array()) {
    for (const base::Json& one : listed) {
      if (!one.is_array() || one.size() != 6) continue;
      elements.push_back({{"x", one[0]},
                          {"y", one[1]},
                          {"width", one[2]},
                          {"height", one[3]},
                          {"selector", one[4]},
                          {"text", one[5]}});
    }
  }
  return {{"image", Base64(outcome.picture)}, {"elements", std::move(elements)}};
}

rest::Reply PreviewReply(const std::vector<std::string>& subjects, const base::Json& warnings,
                         bool shows, const PreviewOutcome& outcome) {
  using Refusal = PreviewOutcome::Refusal;
  if (outcome.refusal == Refusal::kAll) {
    return rest::Unavailable("too many previews are under way");
  }
  if (outcome.refusal == Refusal::kOrganisation) {
    rest::Reply reply = rest::ErrorReply(429, "rate_limited",
                                         "too many previews of your organisation are under way");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  base::Json rows = base::Json::array();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    rows.push_back(RowJson(subjects[i], outcome.rows[i]));
  }
  base::Json body{{"rows", std::move(rows)}, {"warnings", warnings}};
  if (shows) body["screenshot"] = ScreenshotJson(outcome);
  return {200, base::DumpJson(body)};
}

// The body of POST /monitors, of which a preview needs rows, key_columns and struct alone; and
// whether it is to show the first row's page.
CreateBody ReadBody(Call& call, bool* shows) {
  const config::LimitsConfig& limits = call.parts.config.limits;
  auto body = ReadJsonObject(call, RowsBodyRules(call.body_bytes_max, limits.rows_per_request_max));
  if (!body.members.contains("name")) body.members["name"] = kNamedBy;
  rest::Problems problems;
  if (const auto it = body.members.find("screenshot"); it != body.members.end()) {
    if (!it->is_boolean()) {
      problems.Add(rest::BodyReader::Loc("screenshot"), "bool_type", "Input should be a boolean",
                   *it);
    }
    *shows = *it == true;
    body.members.erase("screenshot");
  }
  CreateBody read = ReadCreateBody(std::move(body), limits, &problems);
  if (read.resource_handle_id) {
    problems.Add(base::Json::array({"body", "resource_handle_id"}), "value_error",
                 "A preview looks at rows of its body; take some out of the file", nullptr);
  }
  problems.Check();
  call.answer->DropBody();
  return read;
}

base::Json WarningsOf(const Call& call, const CreateBody& body, const CreateOrder& order) {
  base::Json warnings = base::Json::array();
  const auto said = DescriptionWarnings(body.watched, order.tier, call.parts.config,
                                        call.parts.selector_fault, call.parts.clock);
  if (said) warnings = base::ParseJsonOrThrow(*said);
  const auto addresses = AddressWarning(order.rows, order.tier, call.parts.config);
  if (addresses) warnings.push_back(*addresses);
  return warnings;
}

}  // namespace

rest::Handled PreviewMonitor(Call& call) {
  bool shows = false;
  auto body = ReadBody(call, &shows);
  CreateOrder order =
      TakeOrder(&body, call.parts.config.limits, call.parts.policy, call.parts.clock.Now());
  CheckFrequency(call, order.frequency.needs_testing);
  CheckTier(call, order.tier);
  if (!call.parts.previewer.Serves(order.tier)) {
    return rest::Conflict("a preview reads pages; the tier " +
                          std::string(domain::TierName(order.tier)) +
                          " is served by a research service or a model, which checks alone ask");
  }
  const auto options = body.probe ? domain::ReadProbeOptions(*body.probe) : domain::ProbeOptions();
  CheckProbe(options, order.tier, !body.request_headers.empty(), call.parts.policy,
             call.parts.config, call.parts.selector_fault);
  base::Json warnings = WarningsOf(call, body, order);
  PreviewRequest request{.org_id = call.caller.org_id,
                         .tier = order.tier,
                         .subject_type = order.subject_type,
                         .research_plan = std::move(body.research_plan),
                         .watched = {},
                         .rows = std::move(order.rows),
                         .request_headers = std::move(body.request_headers),
                         .options = options,
                         .secrets = {},
                         .shows = shows};
  if (body.probe) request.secrets = domain::TakeSecrets(&*body.probe);
  for (const auto& [name, description] : body.watched.items()) {
    request.watched.push_back({name, description.get<std::string>()});
  }
  request.rows.resize(std::min(request.rows.size(), kPreviewRowsMax));
  std::vector<std::string> subjects;
  for (const domain::RowValues& row : request.rows) subjects.push_back(row.subject_json);
  call.parts.previewer.Preview(std::move(request),
                               [answer = call.answer, subjects = std::move(subjects), shows,
                                warnings = std::move(warnings)](const PreviewOutcome& outcome) {
                                 answer->Send(PreviewReply(subjects, warnings, shows, outcome));
                               });
  return rest::Parked{};
}

namespace {

constexpr int kTimesMax = 100;
// Years of which the tz database says when the clocks change; the last one is for times alone, so
// that what is asked for has some.
constexpr base::Timestamp kFromMin{};
constexpr base::Timestamp kFromEnd = std::chrono::sys_days(std::chrono::year(2037) / 1 / 1);
constexpr std::chrono::sys_seconds kTimesEnd =
    std::chrono::sys_days(std::chrono::year(2038) / 1 / 1);

}  // namespace

rest::Handled PreviewSchedule(Call& call) {
  const rest::JsonBody body = ReadJsonObject(call, {.bytes_max = call.body_bytes_max});
  rest::Problems problems;
  rest::BodyReader reader(body.members, &problems);
  reader.Has("cron");
  reader.Has("time_zone");
  domain::ScheduleOrder order;
  ReadCronAndZone(body.members, base::Json::array({"body"}), &problems, &order);
  const int count = reader.Integer("count", rest::Presence::kOptional, 1, kTimesMax)
                        .value_or(domain::kNextRunTimesShown);
  const base::Timestamp from =
      reader.Time("from", rest::Presence::kOptional).value_or(call.parts.clock.Now());
  if (from < kFromMin || from >= kFromEnd) {
    reader.Refuse("from", "Input should be a time from 1970 to 2036");
  }
  reader.Finish();
  problems.Check();
  const domain::ClockSchedule schedule = MakeSchedule(order, from);
  auto times = schedule.TimesAfter(from, static_cast<std::size_t>(count));
  times.erase(std::lower_bound(times.begin(), times.end(), kTimesEnd), times.end());
  base::Json json{{"times", base::Json::array()}, {"clock_changes", base::Json::array()}};
  for (const auto& time : times) json["times"].push_back(base::FormatTimestamp(time));
  if (times.empty()) return rest::JsonReply(200, json);
  for (auto& change : schedule.ClockChanges(from, times.back())) {
    json["clock_changes"].push_back(
        {{"at", base::FormatTimestamp(change.at)}, {"effect", std::move(change.effect)}});
  }
  return rest::JsonReply(200, json);
}

}  // namespace vedette::api
