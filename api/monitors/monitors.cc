#include "store/monitors/monitors.h"
#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/limits.h"
#include "api/monitors/address_warning.h"
#include "api/monitors/lists.h"
#include "api/monitors/monitor_body.h"
#include "api/monitors/refusals.h"
#include "api/monitors/rules_body.h"
#include "api/webhook.h"
#include "base/text.h"
#include "domain/change_rules.h"
#include "domain/csv.h"
#include "domain/limits.h"
#include "domain/money.h"
#include "domain/monitor_json.h"
#include "domain/request_headers.h"
#include "rest/query_reader.h"
#include "store/accounts/accounts.h"
#include "store/monitors/uploads.h"
#include "store/sealed.h"

namespace vedette::api {
namespace {

using domain::MonitorStatus;

constexpr std::size_t kColumnsShownMax = 20;  // of a file, in a refusal
constexpr const char* kCancelledReason = "cancelled through the API";
constexpr const char* kArchivedReason = "archived through the API";

rest::Reply UploadNotFound() {
  return rest::ErrorReply(400, "invalid_resource_handle",
                          "resource_handle_id names no finished upload of your organisation; it "
                          "may have expired: upload the file again");
}

// The first of them, for a sentence.
std::string ShownColumns(const std::vector<std::string>& columns) {
  std::string shown;
  const std::size_t count = std::min(columns.size(), kColumnsShownMax);
  for (std::size_t i = 0; i < count; ++i) {
    shown += (i == 0 ? "" : ", ") + rest::Quoted(columns[i]);
  }
  return columns.size() > count ? shown + fmt::format(" and {} more", columns.size() - count)
                                : shown;
}

// The upload that the body names, or none. With an idempotency key (`may_repeat`) it may have
// expired since the first attempt, so that the store judges it.
rest::Judged<std::optional<base::Uuid>> JudgeUpload(const Call& call, const CreateBody& body,
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
  return rest::ErrorReply(
      400, "missing_key_value",
      fmt::format("none of the key columns is a column of the file, which has {}",
                  ShownColumns(upload->columns)));
}

// The key's team, the body's, or none; a 404 for another team than the key's.
rest::Judged<std::optional<base::Uuid>> ChooseTeam(const Call& call, const CreateBody& body) {
  if (!body.team_id) return call.caller.team_id;
  const auto id = base::Uuid::Parse(*body.team_id);
  if (!id || (call.caller.team_id && *call.caller.team_id != *id)) return rest::NotFound("team");
  return std::optional(*id);
}

// The JSON array with one more sentence, if there is one.
std::optional<std::string> WithWarning(const std::optional<std::string>& warnings_json,
                                       const std::optional<std::string>& more) {
  if (!more) return warnings_json;
  base::Json warnings =
      warnings_json ? base::ParseJsonOrThrow(*warnings_json) : base::Json::array();
  warnings.push_back(*more);
  return base::DumpJson(warnings);
}

// The sentence for an organisation that cannot pay one check of the tier.
std::optional<std::string> BalanceWarning(const Call& call, domain::Tier tier,
                                          std::int64_t balance_mc) {
  const std::int64_t price_mc = domain::PriceOf(tier, call.parts.config.prices_mc);
  if (balance_mc >= price_mc) return std::nullopt;
  return fmt::format(
      "Your organisation has {} credits and a check costs {}: until it has more, checks are "
      "skipped (skipped_balance), and nothing is looked at.",
      domain::FormatCredits(balance_mc), domain::FormatCredits(price_mc));
}

// What a trigger says of checks that will be skipped, as things stand.
std::optional<std::string> UnpaidWarning(const Call& call, const domain::Monitor& monitor) {
  const auto waits = domain::WaitsFor(monitor, call.parts.config.prices_mc);
  if (!waits) return std::nullopt;
  if (*waits == domain::WaitingFor::kBalance) {
    return BalanceWarning(call, monitor.tier, monitor.balance_mc);
  }
  return "The team's spend limit of this month is used up: until the next one, or a higher limit, "
         "checks are skipped (skipped_spend_limit), and nothing is looked at.";
}

// The sentence for a receiver that will never be told anything.
std::optional<std::string> SilentWebhookWarning(
    bool has_url, const std::vector<domain::NotificationType>& types) {
  if (!has_url || !types.empty()) return std::nullopt;
  return "webhook_event_types is an empty list, and stays as it was at creation: nothing will be "
         "sent to the webhook_url. To be told, create the monitor again with the types or without "
         "the list.";
}

std::optional<store::SealedHeaders> SealHeaders(const Call& call,
                                                const domain::RequestHeaders& headers) {
  if (headers.empty()) return std::nullopt;
  return store::SealedHeaders{
      store::Seal(call.parts.config.security, domain::RequestHeadersText(headers),
                  store::RequestHeadersBinding(call.caller.org_id)),
      domain::NamesOf(headers)};
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
  if (body.rules) monitor.rules_json = base::DumpJson(*body.rules);
  monitor.request_headers = SealHeaders(call, body.request_headers);
  monitor.rows = std::move(judged.rows);
  monitor.warnings_json =
      WithWarning(DescriptionWarnings(body.watched, judged.tier, call.parts.config,
                                      call.parts.selector_fault, call.parts.clock),
                  AddressWarning(monitor.rows, judged.tier, call.parts.config));
  for (const auto& more :
       {BalanceWarning(call, judged.tier, store::ReadBalance(call.session, call.caller.org_id)),
        SilentWebhookWarning(monitor.webhook.has_value(), monitor.webhook_event_types)}) {
    monitor.warnings_json = WithWarning(monitor.warnings_json, more);
  }
  return monitor;
}

rest::Reply CreatedReply(const store::CreateOutcome& outcome) {
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
rest::Judged<store::NewMonitor> JudgeBody(Call& call) {
  const config::Config& config = call.parts.config;
  rest::Judged<rest::JsonBody> json =
      ReadJsonObject(call, RowsBodyRules(call.body_bytes_max, config.limits.rows_per_request_max));
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  const config::LimitsConfig& limits = config.limits;
  CreateBody body = ReadCreateBody(std::move(std::get<rest::JsonBody>(json)), limits, &problems);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  auto idempotency = ReadIdempotency(call, "");
  if (auto* reply = std::get_if<rest::Reply>(&idempotency)) return std::move(*reply);
  call.answer->DropBody();
  Ruled<JudgedCreate> ruled = JudgeCreate(&body, limits, call.parts.policy);
  if (const auto* breach = std::get_if<RuleBreach>(&ruled)) return BreachReply(*breach);
  auto& judged = std::get<JudgedCreate>(ruled);
  const auto& key = std::get<std::optional<store::Idempotency>>(idempotency);
  auto upload_id = JudgeUpload(call, body, key.has_value());
  if (auto* reply = std::get_if<rest::Reply>(&upload_id)) return std::move(*reply);
  if (auto reply = CheckFrequency(call, judged.frequency)) return std::move(*reply);
  if (auto reply = CheckTier(call, judged.tier)) return std::move(*reply);
  auto team = ChooseTeam(call, body);
  if (auto* reply = std::get_if<rest::Reply>(&team)) return std::move(*reply);
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

// `members` join the object.
rest::Reply DetailReply(Call& call, const base::Uuid& monitor_id, const base::Json& members = {}) {
  const auto monitor = store::GetMonitor(call.session, call.scope(), monitor_id);
  if (!monitor) return rest::NotFound("monitor");
  std::string text = domain::MonitorDetailJson(*monitor, call.parts.config.prices_mc);
  for (const auto& [name, value] : members.items()) {
    text.pop_back();
    text.append(",\"").append(name).append("\":").append(base::DumpJson(value)).append("}");
  }
  return {200, std::move(text)};
}

// What an update says beside the monitor: of a change of struct, what is forgotten and what cannot
// work; of a change of tier, what its probe cannot serve; of a webhook_url, that it is in vain.
base::Json SaidOfChange(const Call& call, const domain::Monitor& before,
                        const store::MonitorChange& change, const store::ControlOutcome& outcome) {
  base::Json said = base::Json::object();
  if (change.struct_json) said["forgotten"] = outcome.forgotten;
  std::optional<std::string> warnings;
  if (change.struct_json || change.tier) {
    warnings =
        DescriptionWarnings(base::ParseJsonOrThrow(change.struct_json.value_or(before.struct_json)),
                            change.tier.value_or(before.tier), call.parts.config,
                            call.parts.selector_fault, call.parts.clock);
  }
  warnings = WithWarning(warnings, SilentWebhookWarning(change.webhook && *change.webhook,
                                                        before.webhook_event_types));
  if (warnings) said["warnings"] = base::ParseJsonOrThrow(*warnings);
  return said;
}

// Rules are of watched fields, as those are after the update: those of fields that leave go with
// them.
std::optional<rest::Reply> JudgeRules(const domain::Monitor& monitor, const UpdateBody& body,
                                      store::MonitorChange* change) {
  if (body.rules && !*body.rules) change->rules_json.emplace();
  const bool leave = !body.rules && body.watched && monitor.rules_json;
  if (!leave && (!body.rules || !*body.rules)) return std::nullopt;
  const base::Json watched =
      body.watched ? *body.watched : base::ParseJsonOrThrow(monitor.struct_json);
  base::Json rules;
  if (leave) {
    rules = domain::RulesOfWatched(base::ParseJsonOrThrow(*monitor.rules_json), watched);
  } else {
    rules = **body.rules;
    rest::Problems problems;
    CheckRules(rules, watched, &problems);
    if (auto refusal = problems.Refusal()) return refusal;
  }
  change->rules_json.emplace();
  if (!rules.empty()) *change->rules_json = base::DumpJson(rules);
  return std::nullopt;
}

// What an update asks for, with its rules (1 and 8) and features judged.
rest::Judged<store::MonitorChange> JudgeChange(const Call& call, const domain::Monitor& monitor,
                                               UpdateBody body) {
  store::MonitorChange change;
  if (auto invalid = JudgeRules(monitor, body, &change)) return std::move(*invalid);
  if (body.request_headers) {
    change.request_headers.emplace();
    if (*body.request_headers) *change.request_headers = SealHeaders(call, **body.request_headers);
  }
  const auto definition = JudgeDefinitionChange(body, monitor.key_columns);
  if (const auto* breach = std::get_if<RuleBreach>(&definition)) return BreachReply(*breach);
  change.tier = std::get<JudgedDefinition>(definition).tier;
  change.subject_type = std::get<JudgedDefinition>(definition).subject_type;
  if (body.watched) change.struct_json = base::DumpJson(*body.watched);
  change.name = std::move(body.name);
  change.is_active = body.is_active;
  change.metadata_json = std::move(body.metadata_json);
  change.research_plan = std::move(body.research_plan);
  change.confirm_after = body.confirm_after;
  change.missing_confirmations = body.missing_confirmations;
  std::optional<rest::Reply> refusal;
  if (body.frequency) {
    auto frequency = JudgeFrequency(*body.frequency, call.parts.config.limits);
    if (auto* breach = std::get_if<RuleBreach>(&frequency)) return BreachReply(*breach);
    change.frequency_text = std::move(body.frequency);
    change.frequency = std::get<Frequency>(frequency).period;
    refusal = CheckFrequency(call, std::get<Frequency>(frequency));
  }
  if (body.webhook_url) change.webhook.emplace();
  if (body.webhook_url && *body.webhook_url) {
    auto url = JudgeWebhookUrl(**body.webhook_url, call.parts.policy);
    if (auto* breach = std::get_if<RuleBreach>(&url)) return BreachReply(*breach);
    change.webhook->emplace(ToWebhook(std::get<net::TenantUrl>(url)));
  }
  if (!refusal && change.tier) refusal = CheckTier(call, *change.tier);
  if (refusal) return std::move(*refusal);
  return change;
}

std::vector<MonitorStatus> ReadStatuses(const rest::QueryReader& query, rest::Problems* problems) {
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
rest::ListParts<domain::Monitor> MonitorListParts(const Call& call, store::MonitorFilter filter,
                                                  int limit) {
  rest::ListParts<domain::Monitor> list;
  list.limit = limit;
  list.read = [filter = std::move(filter)](store::Session& session, const domain::Monitor* after,
                                           int items_max) {
    store::MonitorFilter page = filter;
    if (after != nullptr) page.before_id = after->id;
    page.limit = items_max;
    page.bytes_max = rest::kPageBytes;
    return store::ListMonitors(session, page);
  };
  list.write = [&prices_mc = call.parts.config.prices_mc](const domain::Monitor& monitor,
                                                          std::string* text) {
    text->append(domain::MonitorSummaryJson(monitor, prices_mc));
  };
  return list;
}

rest::Reply TestReply(const WebhookTestOutcome& outcome) {
  using Refusal = WebhookTestOutcome::Refusal;
  if (outcome.refusal == Refusal::kAll) {
    return rest::Unavailable("too many webhook tests are under way");
  }
  if (outcome.refusal == Refusal::kOrganisation) {
    rest::Reply reply = rest::ErrorReply(
        429, "rate_limited", "too many webhook tests of your organisation are under way");
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

// Which members a change has: what it was changed to is the monitor's own.
base::Json NamesOf(const base::Json& members) {
  base::Json names = base::Json::array();
  for (const auto& [name, value] : members.items()) names.push_back(name);
  return {{"members", std::move(names)}};
}

}  // namespace

rest::Handled CreateMonitor(Call& call) {
  rest::Judged<store::NewMonitor> monitor = JudgeBody(call);
  if (auto* reply = std::get_if<rest::Reply>(&monitor)) return std::move(*reply);
  const auto outcome =
      store::CreateMonitor(call.session, call.parts.clock, std::get<store::NewMonitor>(monitor),
                           AuditOf(call, "monitor.create"));
  using Kind = store::CreateOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kCreated:
      call.parts.signals.Raise(store::Signal::kDue);
      return CreatedReply(outcome);
    case Kind::kRepeated:
      return CreatedReply(outcome);
    case Kind::kInProgress:
      return KeyInUse();
    case Kind::kOtherBody:
      return KeyReused();
    case Kind::kTeamNotFound:
      return rest::NotFound("team");
    case Kind::kUploadNotFound:
      break;
  }
  return UploadNotFound();
}

rest::Handled ListMonitors(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  store::MonitorFilter filter{.scope = call.scope(), .statuses = ReadStatuses(query, &problems)};
  filter.with_archived = query.Boolean("archived", false);
  filter.only_failing = query.Boolean("failing", false);
  query.Finish({"cursor"});
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const base::Uuid bound_to = call.caller.team_id.value_or(call.caller.org_id);
  if (const auto cursor = query.Text("cursor")) {
    filter.before_id = rest::DecodeIdCursor(MonitorsOf(bound_to), *cursor);
    if (!filter.before_id) return rest::InvalidCursor();
  }
  auto list = MonitorListParts(call, std::move(filter), limit);
  list.head = "{\"monitors\":[";
  list.tail = [bound_to](const domain::Monitor* next_after) -> std::string {
    if (next_after == nullptr) return "]}";
    return "],\"next_cursor\":\"" + rest::EncodeCursor(MonitorsOf(bound_to), next_after->id) +
           "\"}";
  };
  return SendList(call, std::move(list));
}

rest::Handled ListMonitorsForRun(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::MonitorFilter filter{.scope = call.scope(),
                              .statuses = ReadStatuses(query, &problems),
                              .run_id = call.path_params[0]};
  filter.with_archived = query.Boolean("archived", false);
  query.Finish();
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (base::CountCharacters(*filter.run_id) > domain::kRunIdCharsMax) return rest::Reply{200, "[]"};
  auto list = MonitorListParts(call, std::move(filter), kRunMonitorsMax);
  list.head = "[";
  list.tail = [](const domain::Monitor*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

rest::Handled UpdateMonitor(Call& call) {
  rest::Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&monitor)) return std::move(*reply);
  const auto& before = std::get<domain::Monitor>(monitor);
  const base::Uuid id = before.id;
  rest::Judged<rest::JsonBody> json = ReadJsonObject(call, BodyRulesOf(call));
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  UpdateBody body =
      ReadUpdateBody(std::get<rest::JsonBody>(json).members, call.parts.config.limits, &problems);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  rest::Judged<store::MonitorChange> change = JudgeChange(call, before, std::move(body));
  if (auto* reply = std::get_if<rest::Reply>(&change)) return std::move(*reply);
  store::AuditEntry audit = AuditOf(call, "monitor.update", id.ToString());
  audit.detail = NamesOf(std::get<rest::JsonBody>(json).members);
  const auto outcome = store::UpdateMonitor(call.session, call.parts.clock, call.scope(), id,
                                            std::get<store::MonitorChange>(change), audit);
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(
        outcome.status, outcome.status == MonitorStatus::kCancelled ? "paused" : "changed"));
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return DetailReply(call, id,
                     SaidOfChange(call, before, std::get<store::MonitorChange>(change), outcome));
}

rest::Handled ArchiveMonitor(Call& call) {
  rest::Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&monitor)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const auto outcome =
      store::ArchiveMonitor(call.session, call.parts.clock, call.scope(), id, kArchivedReason,
                            AuditOf(call, "monitor.archive", id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "archived"));
  }
  return DetailReply(call, id);
}

rest::Handled CancelMonitor(Call& call) {
  rest::Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&monitor)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const auto outcome =
      store::CancelMonitor(call.session, call.parts.clock, call.scope(), id, kCancelledReason,
                           AuditOf(call, "monitor.cancel", id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "cancelled"));
  }
  return DetailReply(call, id);
}

rest::Handled TriggerMonitor(Call& call) {
  rest::Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&monitor)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const config::Config& config = call.parts.config;
  const auto outcome = store::TriggerMonitor(call.session, call.parts.clock, call.scope(), id,
                                             store::CutLimitsOf(config),
                                             AuditOf(call, "monitor.trigger", id.ToString()));
  if (outcome.kind == store::TriggerOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::TriggerOutcome::Kind::kConflict) {
    const auto status = outcome.organisation_stopped ? MonitorStatus::kPaused : outcome.status;
    return rest::Conflict(StatusMessage(status, "triggered"));
  }
  if (outcome.raise) call.parts.signals.Raise(*outcome.raise);
  store::ConfirmTrigger(call.session);
  base::Json said{{"monitor_id", id.ToString()},
                  {"tick_id", outcome.tick_id},
                  {"rows", outcome.rows},
                  {"joined", outcome.joined}};
  if (const auto warning = UnpaidWarning(call, std::get<domain::Monitor>(monitor))) {
    said["warnings"] = base::Json::array({*warning});
  }
  return rest::Reply{202, base::DumpJson(said)};
}

rest::Handled TestWebhook(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  if (!monitor.webhook_url)
    return rest::Conflict("the monitor has no webhook_url: give it one with an update");
  call.parts.webhook_tester.Test(
      {monitor.org_id, monitor.id, *monitor.webhook_url, monitor.metadata_json},
      [answer = call.answer](const WebhookTestOutcome& outcome) {
        answer->Send(TestReply(outcome));
      });
  return rest::Parked{};
}

}  // namespace vedette::api
