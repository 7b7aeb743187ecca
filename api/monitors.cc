#include "store/monitors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/limits.h"
#include "api/list_stream.h"
#include "api/monitor_body.h"
#include "base/crypto.h"
#include "domain/csv.h"
#include "domain/limits.h"
#include "domain/monitor_json.h"
#include "store/uploads.h"

namespace vedette::api {
namespace {

using domain::MonitorStatus;

// A run's monitors come in one answer.
constexpr const char* kCancelledReason = "cancelled through the API";

Reply BreachReply(const RuleBreach& breach) {
  return ErrorReply(400, breach.code, breach.message);
}

// 403 of frequency and tier.
std::optional<Reply> CheckFrequency(const Call& call, const Frequency& frequency) {
  return CheckFeature(call, frequency.needs_testing, domain::kFeatureTestingMonitors,
                      "the frequency 5m");
}

std::optional<Reply> CheckTier(const Call& call, domain::Tier tier) {
  if (auto reply = CheckFeature(call, tier == domain::Tier::kMicro, domain::kFeatureTestingMonitors,
                                "the tier micro")) {
    return reply;
  }
  return CheckFeature(call, tier == domain::Tier::kHigh, domain::kFeatureHighTier, "the tier high");
}

// What is wrong with an idempotency key: the type and the sentence of a 422.
std::optional<std::pair<std::string_view, std::string>> JudgeIdempotencyKey(std::string_view key) {
  if (!domain::IsValidUtf8(key)) return {{"string_unicode", "Idempotency-Key should be UTF-8"}};
  if (key.empty() || CharCount(key) > domain::kIdempotencyKeyCharsMax) {
    return {{key.empty() ? "string_too_short" : "string_too_long",
             fmt::format("Idempotency-Key should have 1 to {} characters",
                         domain::kIdempotencyKeyCharsMax)}};
  }
  const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
  if (!std::any_of(key.begin(), key.end(), is_control)) return std::nullopt;
  return {{"string_pattern_mismatch", "Idempotency-Key should have no control characters"}};
}

// Empty for none; a 422 for one that cannot be kept.
Judged<std::optional<store::Idempotency>> ReadIdempotency(const Call& call) {
  for (const auto& [name, value] : call.request().headers) {
    if (name != "idempotency-key") continue;
    if (auto problem = JudgeIdempotencyKey(value)) {
      return ValidationReply({{base::Json::array({"header", "Idempotency-Key"}),
                               std::move(problem->second), std::string(problem->first)}});
    }
    // The same body from another team's key is another request (G8).
    const std::string team = call.caller.team_id ? call.caller.team_id->ToString() : "";
    return std::optional(store::Idempotency{value, base::Sha256(team, call.request().body),
                                            call.parts.config.retention.idempotency_keys});
  }
  return std::optional<store::Idempotency>();
}

Reply UploadNotFound() {
  return ErrorReply(400, "invalid_resource_handle",
                    "resource_handle_id is not a live upload of your organisation");
}

// The upload that the body names, or none. With an idempotency key (`may_repeat`) it may have
// expired since the first attempt, so that the store judges it.
Judged<std::optional<base::Uuid>> JudgeUpload(const Call& call, const CreateBody& body,
                                              bool may_repeat) {
  if (!body.resource_handle_id) return std::optional<base::Uuid>();
  const auto id = base::Uuid::Parse(*body.resource_handle_id);
  if (!id) return UploadNotFound();
  const auto upload = store::FindUpload(call.session, call.caller.org_id, *id);
  if (!upload && may_repeat) return id;
  if (!upload) return UploadNotFound();
  const bool has_key =
      std::any_of(body.key_columns.begin(), body.key_columns.end(), [&](const std::string& name) {
        return std::find(upload->columns.begin(), upload->columns.end(), name) !=
               upload->columns.end();
      });
  if (has_key) return id;
  return ErrorReply(400, "missing_key_value", "none of the key columns is a column of the file");
}

// The key's team, the body's, or none; a 404 for another team than the key's.
Judged<std::optional<base::Uuid>> ChooseTeam(const Call& call, const CreateBody& body) {
  if (!body.team_id) return call.caller.team_id;
  const auto id = base::Uuid::Parse(*body.team_id);
  if (!id || (call.caller.team_id && *call.caller.team_id != *id)) return NotFound("team");
  return std::optional(*id);
}

store::Webhook ToWebhook(const net::TenantUrl& url) {
  return {url.text, {url.scheme, url.host, url.port}};
}

store::NewMonitor Compose(const Call& call, CreateBody body, JudgedCreate judged) {
  store::NewMonitor monitor;
  monitor.org_id = call.caller.org_id;
  monitor.name = std::move(body.name);
  monitor.frequency_text = std::move(body.frequency);
  monitor.frequency = judged.frequency.period;
  monitor.tier = judged.tier;
  monitor.subject_type = judged.subject_type;
  monitor.key_columns = std::move(body.key_columns);
  monitor.struct_json = base::DumpJson(body.watched);
  monitor.research_plan = std::move(body.research_plan);
  monitor.metadata_json = std::move(body.metadata_json);
  if (judged.webhook) monitor.webhook = ToWebhook(*judged.webhook);
  monitor.webhook_event_types = std::move(body.webhook_event_types);
  monitor.confirm_after = body.confirm_after;
  monitor.missing_confirmations = body.missing_confirmations;
  monitor.run_id = std::move(body.run_id);
  monitor.rows = std::move(judged.rows);
  monitor.warnings_json = DescriptionWarnings(body.watched, judged.tier, call.parts.config,
                                              call.parts.selector_fault, call.parts.clock);
  return monitor;
}

Reply CreatedReply(const store::CreateOutcome& outcome) {
  std::string body =
      fmt::format("{{\"id\":\"{}\",\"status\":\"{}\",\"rows\":[", outcome.monitor_id.ToString(),
                  domain::MonitorStatusName(outcome.status));
  for (const base::Uuid& id : outcome.row_ids) {
    if (body.back() != '[') body += ',';
    body.append("{\"id\":\"").append(id.ToString()).append("\"}");
  }
  body += ']';
  if (outcome.warnings_json) body.append(",\"warnings\":").append(*outcome.warnings_json);
  return {200, body + '}'};
}

// What is judged before the store is asked; the monitor to make otherwise.
Judged<store::NewMonitor> JudgeBody(Call& call) {
  Judged<JsonBody> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  const config::LimitsConfig& limits = call.parts.config.limits;
  CreateBody body = ReadCreateBody(std::move(std::get<JsonBody>(json)), limits, &problems);
  if (problems.any()) return ValidationReply(problems.items());
  auto idempotency = ReadIdempotency(call);
  if (auto* reply = std::get_if<Reply>(&idempotency)) return std::move(*reply);
  call.answer->DropBody();
  Ruled<JudgedCreate> ruled = JudgeCreate(&body, limits, call.parts.policy);
  if (const auto* breach = std::get_if<RuleBreach>(&ruled)) return BreachReply(*breach);
  auto& judged = std::get<JudgedCreate>(ruled);
  const auto& key = std::get<std::optional<store::Idempotency>>(idempotency);
  auto upload_id = JudgeUpload(call, body, key.has_value());
  if (auto* reply = std::get_if<Reply>(&upload_id)) return std::move(*reply);
  if (auto reply = CheckFrequency(call, judged.frequency)) return std::move(*reply);
  if (auto reply = CheckTier(call, judged.tier)) return std::move(*reply);
  auto team = ChooseTeam(call, body);
  if (auto* reply = std::get_if<Reply>(&team)) return std::move(*reply);
  store::NewMonitor monitor = Compose(call, std::move(body), std::move(judged));
  monitor.upload_id = std::get<std::optional<base::Uuid>>(upload_id);
  monitor.team_id = std::get<std::optional<base::Uuid>>(team);
  monitor.idempotency = std::move(std::get<std::optional<store::Idempotency>>(idempotency));
  return monitor;
}

// The sentence of a 409.
std::string StatusMessage(MonitorStatus status, std::string_view what) {
  return fmt::format("the monitor is {}: it cannot be {}", domain::MonitorStatusName(status), what);
}

Reply DetailReply(Call& call, const base::Uuid& monitor_id) {
  const auto monitor = store::GetMonitor(call.session, call.scope(), monitor_id);
  if (!monitor) return NotFound("monitor");
  return {200, domain::MonitorDetailJson(*monitor)};
}

// What an update asks for, with its rules (1 and 8) and features judged.
Judged<store::MonitorChange> JudgeChange(const Call& call, UpdateBody body) {
  store::MonitorChange change;
  change.name = std::move(body.name);
  change.is_active = body.is_active;
  if (body.has_metadata) change.metadata_json.emplace(std::move(body.metadata_json));
  if (body.has_research_plan) change.research_plan.emplace(std::move(body.research_plan));
  change.confirm_after = body.confirm_after;
  change.missing_confirmations = body.missing_confirmations;
  std::optional<Reply> refusal;
  if (body.frequency) {
    auto frequency = JudgeFrequency(*body.frequency, call.parts.config.limits);
    if (auto* breach = std::get_if<RuleBreach>(&frequency)) return BreachReply(*breach);
    change.frequency_text = std::move(body.frequency);
    change.frequency = std::get<Frequency>(frequency).period;
    refusal = CheckFrequency(call, std::get<Frequency>(frequency));
  }
  if (body.has_webhook_url) change.webhook.emplace();
  if (body.webhook_url) {
    auto url = JudgeWebhookUrl(*body.webhook_url, call.parts.policy);
    if (auto* breach = std::get_if<RuleBreach>(&url)) return BreachReply(*breach);
    change.webhook->emplace(ToWebhook(std::get<net::TenantUrl>(url)));
  }
  if (refusal) return std::move(*refusal);
  return change;
}

std::vector<MonitorStatus> ReadStatuses(const QueryReader& query, Problems* problems) {
  std::vector<MonitorStatus> statuses;
  for (const std::string& name : query.All("status")) {
    if (const auto status = domain::ParseMonitorStatus(name)) {
      statuses.push_back(*status);
    } else {
      problems->Add(base::Json::array({"query", "status"}), "enum",
                    "Input should be 'starting', 'failed', 'active', 'paused' or 'cancelled'",
                    name);
    }
  }
  return statuses;
}

// A list of summaries, newest first; the caller adds head and tail.
ListParts<domain::Monitor> MonitorListParts(store::MonitorFilter filter, int limit) {
  ListParts<domain::Monitor> list;
  list.limit = limit;
  list.read = [filter = std::move(filter)](store::Session& session, const domain::Monitor* after,
                                           int items_max) {
    store::MonitorFilter page = filter;
    if (after != nullptr) page.before_id = after->id;
    page.limit = items_max;
    page.bytes_max = kPageBytes;
    return store::ListMonitors(session, page);
  };
  list.write = [](const domain::Monitor& monitor, std::string* text) {
    text->append(domain::MonitorSummaryJson(monitor));
  };
  return list;
}

Reply TestReply(const WebhookTestOutcome& outcome) {
  using Refusal = WebhookTestOutcome::Refusal;
  if (outcome.refusal == Refusal::kAll) {
    return Unavailable("too many webhook tests are under way");
  }
  if (outcome.refusal == Refusal::kOrganisation) {
    Reply reply = ErrorReply(429, "rate_limited",
                             "too many webhook tests of your organisation are under way");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  base::Json json{{"delivered", outcome.delivered},
                  {"status_code", nullptr},
                  {"error", nullptr},
                  {"duration_ms", outcome.duration_ms}};
  if (outcome.status_code) json["status_code"] = *outcome.status_code;
  if (outcome.error) json["error"] = *outcome.error;
  return {200, base::DumpJson(json)};
}

}  // namespace

Handled CreateMonitor(Call& call) {
  Judged<store::NewMonitor> monitor = JudgeBody(call);
  if (auto* reply = std::get_if<Reply>(&monitor)) return std::move(*reply);
  const auto outcome =
      store::CreateMonitor(call.session, call.parts.clock, std::get<store::NewMonitor>(monitor));
  using Kind = store::CreateOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kCreated:
      call.parts.signals.Raise(store::Signal::kDue);
      return CreatedReply(outcome);
    case Kind::kRepeated:
      return CreatedReply(outcome);
    case Kind::kInProgress:
      return ErrorReply(409, "idempotency_key_in_use",
                        "a request with this Idempotency-Key is still being processed; repeat it "
                        "in a few seconds");
    case Kind::kOtherBody:
      return ValidationReply(
          {{base::Json::array({"header", "Idempotency-Key"}),
            "This Idempotency-Key was used with another body", "idempotency_key_reused"}});
    case Kind::kTeamNotFound:
      return NotFound("team");
    case Kind::kUploadNotFound:
      return UploadNotFound();
  }
  return std::nullopt;
}

Handled ListMonitors(Call& call) {
  Problems problems;
  QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  store::MonitorFilter filter{.scope = call.scope(), .statuses = ReadStatuses(query, &problems)};
  if (problems.any()) return ValidationReply(problems.items());
  const base::Uuid bound_to = call.caller.team_id.value_or(call.caller.org_id);
  if (const auto cursor = query.Text("cursor")) {
    filter.before_id = DecodeIdCursor(CursorKind::kMonitors, bound_to, *cursor);
    if (!filter.before_id) {
      return ErrorReply(400, "invalid_cursor", "cursor is not one of this list");
    }
  }
  auto list = MonitorListParts(std::move(filter), limit);
  list.head = "{\"monitors\":[";
  list.tail = [bound_to](const domain::Monitor* next_after) -> std::string {
    if (next_after == nullptr) return "]}";
    return "],\"next_cursor\":\"" + EncodeCursor(CursorKind::kMonitors, bound_to, next_after->id) +
           "\"}";
  };
  return SendList(call, std::move(list));
}

Handled ListMonitorsForRun(Call& call) {
  Problems problems;
  const QueryReader query(call.request().query, &problems);
  store::MonitorFilter filter{.scope = call.scope(),
                              .statuses = ReadStatuses(query, &problems),
                              .run_id = call.path_params[0]};
  if (problems.any()) return ValidationReply(problems.items());
  if (CharCount(*filter.run_id) > domain::kRunIdCharsMax) return Reply{200, "[]"};
  auto list = MonitorListParts(std::move(filter), kRunMonitorsMax);
  list.head = "[";
  list.tail = [](const domain::Monitor*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

Handled UpdateMonitor(Call& call) {
  Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&monitor)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  Judged<JsonBody> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  UpdateBody body =
      ReadUpdateBody(std::get<JsonBody>(json).members, call.parts.config.limits, &problems);
  if (problems.any()) return ValidationReply(problems.items());
  Judged<store::MonitorChange> change = JudgeChange(call, std::move(body));
  if (auto* reply = std::get_if<Reply>(&change)) return std::move(*reply);
  const auto outcome = store::UpdateMonitor(call.session, call.parts.clock, call.scope(), id,
                                            std::get<store::MonitorChange>(change));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return Conflict(StatusMessage(
        outcome.status, outcome.status == MonitorStatus::kCancelled ? "paused" : "changed"));
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return DetailReply(call, id);
}

Handled CancelMonitor(Call& call) {
  Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&monitor)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return reply;
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const auto outcome = store::CancelMonitor(call.session, call.parts.clock, call.scope(), id,
                                            kCancelledReason, std::nullopt);
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return Conflict(StatusMessage(outcome.status, "cancelled"));
  }
  return DetailReply(call, id);
}

Handled TriggerMonitor(Call& call) {
  Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&monitor)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return reply;
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const config::Config& config = call.parts.config;
  const auto outcome = store::TriggerMonitor(call.session, call.parts.clock, call.scope(), id,
                                             store::CutLimitsOf(config), std::nullopt);
  if (outcome.kind == store::TriggerOutcome::Kind::kNotFound) return NotFound("monitor");
  if (outcome.kind == store::TriggerOutcome::Kind::kConflict) {
    const auto status = outcome.organisation_stopped ? MonitorStatus::kPaused : outcome.status;
    return Conflict(StatusMessage(status, "triggered"));
  }
  call.parts.signals.Raise(store::Signal::kChunk);
  call.parts.signals.Raise(store::Signal::kDue);
  return Reply{202, base::DumpJson({{"monitor_id", id.ToString()},
                                    {"tick_id", outcome.tick_id},
                                    {"rows", outcome.rows},
                                    {"joined", outcome.joined}})};
}

Handled TestWebhook(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return reply;
  const auto& monitor = std::get<domain::Monitor>(found);
  if (!monitor.webhook_url) return Conflict("the monitor has no webhook_url");
  call.parts.webhook_tester.Test(
      {monitor.org_id, monitor.id, *monitor.webhook_url, monitor.metadata_json},
      [answer = call.answer](const WebhookTestOutcome& outcome) {
        answer->Send(TestReply(outcome));
      });
  return std::nullopt;
}

}  // namespace vedette::api
