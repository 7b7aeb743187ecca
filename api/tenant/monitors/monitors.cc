#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/query_reader.h"
#include "api/tenant/call.h"
#include "api/tenant/channels/channel_ids.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "api/tenant/monitors/schedule_body.h"
#include "base/json.h"
#include "base/text.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "domain/money/money.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/monitor_json.h"
#include "domain/monitor/request_headers.h"
#include "domain/monitor/timetable.h"
#include "domain/text/csv.h"
#include "domain/text/limits.h"
#include "store/accounts/accounts.h"
#include "store/channels/channels.h"
#include "store/monitors/monitors.h"
#include "store/monitors/uploads.h"
#include "store/sealed.h"

namespace vedette::api {
namespace {

using domain::MonitorStatus;

constexpr std::size_t kColumnsShownMax = 20;  // of a file, in a refusal
constexpr const char* kCancelledReason = "cancelled through the API";
constexpr const char* kArchivedReason = "archived through the API";
constexpr const char* kDeletedReason = "deleted through the API";

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

// The upload that the body names, or none.
std::optional<base::Uuid> ReadUploadId(const Call& call, const CreateBody& body) {
  if (!body.resource_handle_id) return std::optional<base::Uuid>();
  const auto id = base::Uuid::Parse(*body.resource_handle_id);
  if (!id) throw rest::Refusal(UploadNotFound());
  const auto upload = store::FindUpload(call.session(), call.caller.org_id, *id);
  if (!upload) throw rest::Refusal(UploadNotFound());
  const bool has_key =
      std::any_of(body.key_columns.begin(), body.key_columns.end(), [&](const std::string& name) {
        return std::find(upload->columns.begin(), upload->columns.end(), name) !=
               upload->columns.end();
      });
  if (has_key) return id;
  throw rest::Refusal(400, "missing_key_value",
                      fmt::format("none of the key columns is a column of the file, which has {}",
                                  ShownColumns(upload->columns)));
}

// The key's team, the body's, or none; a 404 for another team than the key's.
std::optional<base::Uuid> ChooseTeam(const Call& call, const CreateBody& body) {
  if (!body.team_id) return call.caller.team_id;
  const auto id = base::Uuid::Parse(*body.team_id);
  if (!id || (call.caller.team_id && *call.caller.team_id != *id))
    throw rest::Refusal(rest::NotFound("team"));
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
  const std::int64_t price_mc = domain::PriceOf(tier, config::MostPricesMc(call.parts.config));
  if (balance_mc >= price_mc) return std::nullopt;
  return fmt::format(
      "Your organisation has {} credits and a check costs {}: until it has more, checks are "
      "skipped (skipped_balance), and nothing is looked at.",
      domain::FormatCredits(balance_mc), domain::FormatCredits(price_mc));
}

// What a trigger says of checks that will be skipped, as things stand.
std::optional<std::string> UnpaidWarning(const Call& call, const domain::Monitor& monitor) {
  const auto waits = domain::WaitsFor(monitor, config::MostPricesMc(call.parts.config));
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

// What its pages are acted on with, sealed.
std::optional<store::NewLogin> LoginOf(const Call& call, const domain::ProbeOptions& options,
                                       const domain::ProbeSecrets& secrets) {
  if (!options.NeedsLogin()) return std::nullopt;
  store::NewLogin login;
  if (!secrets.empty()) {
    login.secrets = store::Seal(call.parts.config.security, domain::ProbeSecretsText(secrets),
                                store::ProbeSecretsBinding(call.caller.org_id));
  }
  return login;
}

store::NewMonitor Compose(const Call& call, CreateBody body, CreateOrder order) {
  store::NewMonitor monitor;
  monitor.org_id = call.caller.org_id;
  monitor.name = std::move(body.name);
  monitor.frequency_text = std::move(body.frequency);
  monitor.frequency = order.frequency.period;
  if (body.schedule) monitor.schedule_json = domain::StoredSchedule(*body.schedule);
  monitor.anchor_at = body.anchor_at;
  monitor.anchor_spread = call.parts.config.scheduler.spread;
  monitor.tier = order.tier;
  monitor.subject_type = order.subject_type;
  monitor.key_columns = std::move(body.key_columns);
  monitor.struct_json = base::DumpJson(body.watched);
  monitor.research_plan = std::move(body.research_plan);
  monitor.metadata_json = std::move(body.metadata_json);
  if (order.webhook) monitor.webhook = ToWebhook(*order.webhook);
  monitor.webhook_event_types = std::move(body.webhook_event_types);
  monitor.confirm_after = body.confirm_after;
  monitor.missing_confirmations = body.missing_confirmations;
  monitor.run_id = std::move(body.run_id);
  if (body.rules) monitor.rules_json = base::DumpJson(*body.rules);
  monitor.request_headers = SealHeaders(call, body.request_headers);
  if (body.probe) {
    const auto options = domain::ReadProbeOptions(*body.probe);
    CheckProbe(options, order.tier, !body.request_headers.empty(), call.parts.policy,
               call.parts.config, call.parts.selector_fault);
    monitor.login = LoginOf(call, options, domain::TakeSecrets(&*body.probe));
    monitor.probe_json = base::DumpJson(*body.probe);
  }
  monitor.channel_ids = std::move(body.channel_ids);
  monitor.tags = std::move(body.tags);
  monitor.rows = std::move(order.rows);
  monitor.warnings_json =
      WithWarning(DescriptionWarnings(body.watched, order.tier, call.parts.config,
                                      call.parts.selector_fault, call.parts.clock),
                  AddressWarning(monitor.rows, order.tier, call.parts.config));
  for (const auto& more :
       {BalanceWarning(call, order.tier, store::ReadBalance(call.session(), call.caller.org_id)),
        SilentWebhookWarning(monitor.webhook.has_value(), monitor.webhook_event_types)}) {
    monitor.warnings_json = WithWarning(monitor.warnings_json, more);
  }
  return monitor;
}

rest::Reply Created(const store::CreateOutcome& outcome) {
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

rest::Reply CreatedReply(const store::CreateOutcome& outcome) {
  using Kind = store::CreateOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kCreated:
    case Kind::kRepeated:
      return Created(outcome);
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

// A create whose form is right.
struct CreateRequest {
  CreateBody body;
  std::optional<store::Idempotency> key;
};

CreateRequest ReadCreateRequest(Call& call) {
  const config::Config& config = call.parts.config;
  auto json =
      ReadJsonObject(call, RowsBodyRules(call.body_bytes_max, config.limits.rows_per_request_max));
  rest::Problems problems;
  CreateRequest request{ReadCreateBody(std::move(json), config.limits, &problems), {}};
  problems.Check();
  request.key = ReadIdempotency(call, "");
  call.answer->DropBody();
  return request;
}

// The monitor to make. Refuses what can be refused before the store is asked.
store::NewMonitor NewMonitorOf(const Call& call, CreateRequest request) {
  CreateBody& body = request.body;
  CreateOrder order =
      TakeOrder(&body, call.parts.config.limits, call.parts.policy, call.parts.clock.Now());
  const auto upload_id = ReadUploadId(call, body);
  CheckFrequency(call, order.frequency.needs_testing);
  CheckTier(call, order.tier);
  const auto team = ChooseTeam(call, body);
  CheckChannels(call, body.channel_ids);
  store::NewMonitor monitor = Compose(call, std::move(body), std::move(order));
  monitor.upload_id = upload_id;
  monitor.team_id = team;
  monitor.idempotency = std::move(request.key);
  return monitor;
}

// The sentence of a 409.
std::string StatusMessage(MonitorStatus status, std::string_view what) {
  return fmt::format("the monitor is {}: it cannot be {}", domain::MonitorStatusName(status), what);
}

// `members` join the object.
rest::Reply DetailReply(Call& call, const base::Uuid& monitor_id, const base::Json& members = {}) {
  auto monitor = store::GetMonitor(call.session(), call.caller.scope(), monitor_id);
  if (!monitor) return rest::NotFound("monitor");
  monitor->channel_ids = store::ReadMonitorChannels(call.session(), monitor_id);
  std::string text = domain::MonitorDetailJson(*monitor, config::MostPricesMc(call.parts.config));
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
void ReadRulesChange(const domain::Monitor& monitor, const UpdateBody& body,
                     store::MonitorChange* change) {
  if (body.rules && !*body.rules) change->rules_json.emplace();
  const bool leave = !body.rules && body.watched && monitor.rules_json;
  if (!leave && (!body.rules || !*body.rules)) return;
  const base::Json watched =
      body.watched ? *body.watched : base::ParseJsonOrThrow(monitor.struct_json);
  base::Json rules;
  if (leave) {
    rules = domain::RulesOfWatched(base::ParseJsonOrThrow(*monitor.rules_json), watched);
  } else {
    rules = **body.rules;
    rest::Problems problems;
    CheckRules(rules, watched, &problems);
    problems.Check();
  }
  change->rules_json.emplace();
  if (!rules.empty()) *change->rules_json = base::DumpJson(rules);
}

// The secrets of an update, with those in whose place it says null as they are kept.
domain::ProbeSecrets SecretsOfChange(const Call& call, const domain::Monitor& monitor,
                                     base::Json* probe) {
  rest::Problems problems;
  CheckSecretsToKeep(*probe, monitor.probe_json, &problems);
  problems.Check();
  const auto to_keep = domain::SecretsToKeep(*probe);
  domain::ProbeSecrets secrets = domain::TakeSecrets(probe);
  if (to_keep.empty()) return secrets;
  const auto login = store::ReadLogin(call.session(), monitor.org_id, monitor.id);
  std::optional<std::string> text;
  if (login && login->secrets) {
    text = store::OpenSealed(store::NamedKeys(call.parts.config.security), *login->secrets,
                             store::ProbeSecretsBinding(monitor.org_id));
  }
  const auto kept = text ? domain::ParseProbeSecrets(*text) : std::nullopt;
  for (const std::string& name : to_keep) {
    if (!kept || !kept->contains(name)) {
      throw rest::Refusal(rest::Conflict(
          fmt::format("the secret {} that is kept cannot be opened any more; give its value in "
                      "probe.secrets",
                      rest::Quoted(name))));
    }
    secrets[name] = kept->at(name);
  }
  return secrets;
}

// Options are of a tier and beside headers, as those are after the update.
void ReadProbeChange(const Call& call, const domain::Monitor& monitor, const UpdateBody& body,
                     store::MonitorChange* change) {
  base::Json probe;
  if (body.probe) change->probe_json.emplace();
  if (body.probe && *body.probe) {
    probe = **body.probe;
    const auto secrets = SecretsOfChange(call, monitor, &probe);
    change->login = LoginOf(call, domain::ReadProbeOptions(probe), secrets);
    *change->probe_json = base::DumpJson(probe);
  }
  if (!body.probe && !change->tier && !body.request_headers) return;
  const bool has_headers = body.request_headers ? body.request_headers->has_value()
                                                : !monitor.request_header_names.empty();
  CheckProbe(domain::ParseProbeOptions(change->probe_json.value_or(monitor.probe_json)),
             change->tier.value_or(monitor.tier), has_headers, call.parts.policy, call.parts.config,
             call.parts.selector_fault);
}

// What an update asks for, with its rules and features validated. Rules, options and headers are
// validated by what else the monitor says; a pause is not, and is never in vain.
store::MonitorChange ReadChange(const Call& call, const domain::Monitor& monitor, UpdateBody body) {
  store::MonitorChange change;
  const bool depends =
      body.rules || body.watched || body.probe || body.tier || body.request_headers;
  if (depends) change.of_version = monitor.updated_at;
  ReadRulesChange(monitor, body, &change);
  if (body.request_headers) {
    change.request_headers.emplace();
    if (*body.request_headers) *change.request_headers = SealHeaders(call, **body.request_headers);
  }
  const auto definition = ReadDefinitionChange(body, monitor.key_columns);
  change.tier = definition.tier;
  change.subject_type = definition.subject_type;
  ReadProbeChange(call, monitor, body, &change);
  if (body.watched) change.struct_json = base::DumpJson(*body.watched);
  change.name = std::move(body.name);
  change.is_active = body.is_active;
  change.metadata_json = std::move(body.metadata_json);
  change.research_plan = std::move(body.research_plan);
  change.confirm_after = body.confirm_after;
  change.missing_confirmations = body.missing_confirmations;
  NeedsTesting needs_testing;
  if (body.frequency) {
    Frequency frequency = ReadFrequency(*body.frequency, call.parts.config.limits);
    change.frequency_text = std::move(body.frequency);
    change.frequency = frequency.period;
    needs_testing = std::move(frequency.needs_testing);
  }
  if (body.schedule) {
    needs_testing =
        CheckDistances(call.parts.config.limits, call.parts.clock.Now(), &*body.schedule);
    change.frequency = body.schedule->distances.shortest;
    change.frequency_text = domain::DurationText(change.frequency);
    change.schedule_json = domain::StoredSchedule(*body.schedule);
  }
  if (body.webhook_url) change.webhook.emplace();
  if (body.webhook_url && *body.webhook_url) {
    change.webhook->emplace(ToWebhook(ReadWebhookUrl(**body.webhook_url, call.parts.policy)));
  }
  CheckFrequency(call, needs_testing);
  if (change.tier) CheckTier(call, *change.tier);
  if (body.channel_ids) {
    CheckChannels(call, *body.channel_ids);
    change.channel_ids = std::move(body.channel_ids);
  }
  change.tags = std::move(body.tags);
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

// What a list looks for by `tag`, `name` and `fresh`.
store::MonitorSearch ReadSearch(rest::QueryReader* query) {
  store::MonitorSearch search;
  search.tags = query->All("tag");
  search.name = query->Text("name");
  if (search.tags.size() > domain::kMonitorTagsMax) {
    query->Refuse("tag", "too_long",
                  fmt::format("A monitor has at most {} tags", domain::kMonitorTagsMax));
  }
  if (search.name && search.name->empty()) {
    query->Refuse("name", "string_too_short", "Name a part of the monitor's name");
  }
  if (query->Text("fresh")) search.fresh = query->Boolean("fresh", true);
  return search;
}

// A page of what a search finds among the monitors that it looks at; the cursor goes on behind
// them, however few were found.
rest::Reply SearchReply(Call& call, store::MonitorFilter filter, const store::MonitorSearch& search,
                        int limit) {
  const rest::CursorOf list = MonitorsOf(call, call.caller.team_id.value_or(call.caller.org_id));
  filter.limit = limit + 1;
  filter.bytes_max = rest::kPageBytes;
  auto page = rest::CutPage(
      store::SearchMonitors(call.session(), filter, search), limit,
      [&](const domain::Monitor& monitor) { return rest::EncodeCursor(list, monitor.id); });
  if (!page.next_cursor) {
    if (const auto end = store::EndOfSearch(call.session(), filter, search)) {
      page.next_cursor = rest::EncodeCursor(list, *end);
    }
  }
  return {200, rest::PageText("monitors", page,
                              [prices_mc = config::MostPricesMc(call.parts.config)](
                                  const auto& monitor, std::string* text) {
                                text->append(domain::MonitorSummaryJson(monitor, prices_mc));
                              })};
}

// A list of summaries, newest first; the caller adds head and tail.
rest::ListPieces<domain::Monitor> MonitorListParts(const Call& call, store::MonitorFilter filter,
                                                   int limit) {
  rest::ListPieces<domain::Monitor> list;
  list.limit = limit;
  list.read = [filter = std::move(filter)](store::Session& session, const domain::Monitor* after,
                                           int items_max) {
    store::MonitorFilter page = filter;
    if (after != nullptr) page.before_id = after->id;
    page.limit = items_max;
    page.bytes_max = rest::kPageBytes;
    return store::ListMonitors(session, page);
  };
  list.write = [prices_mc = config::MostPricesMc(call.parts.config)](const domain::Monitor& monitor,
                                                                     std::string* text) {
    text->append(domain::MonitorSummaryJson(monitor, prices_mc));
  };
  return list;
}

// Which members a change has: what it was changed to is the monitor's own.
base::Json NamesOf(const base::Json& members) {
  base::Json names = base::Json::array();
  for (const auto& [name, value] : members.items()) names.push_back(name);
  return {{"members", std::move(names)}};
}

}  // namespace

rest::Handled CreateMonitor(Call& call) {
  CreateRequest request = ReadCreateRequest(call);
  if (request.key) {
    // A repetition gets the first answer, whatever has become of what the body names.
    const auto first = store::FindMonitorCreated(call.session(), call.caller.org_id, *request.key);
    if (first) return CreatedReply(*first);
  }
  const auto monitor = NewMonitorOf(call, std::move(request));
  const auto outcome = store::CreateMonitor(call.session(), call.parts.clock, monitor,
                                            AuditOf(call, "monitor.create"));
  if (outcome.kind == store::CreateOutcome::Kind::kCreated) {
    call.parts.signals.Raise(store::Signal::kDue);
  }
  return CreatedReply(outcome);
}

rest::Handled ListMonitors(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  store::MonitorFilter filter{.scope = call.caller.scope(),
                              .statuses = ReadStatuses(query, &problems)};
  filter.with_archived = query.Boolean("archived", false);
  filter.only_failing = query.Boolean("failing", false);
  const store::MonitorSearch search = ReadSearch(&query);
  query.Finish({"cursor"});
  problems.Check();
  const base::Uuid bound_to = call.caller.team_id.value_or(call.caller.org_id);
  if (const auto cursor = query.Text("cursor")) {
    filter.before_id = rest::DecodeIdCursor(MonitorsOf(call, bound_to), *cursor);
    if (!filter.before_id) return rest::InvalidCursor();
  }
  if (search.any()) return SearchReply(call, std::move(filter), search, limit);
  auto list = MonitorListParts(call, std::move(filter), limit);
  list.head = "{\"monitors\":[";
  list.tail = [of = MonitorsOf(call, bound_to)](const domain::Monitor* next_after) -> std::string {
    if (next_after == nullptr) return "]}";
    return "],\"next_cursor\":\"" + rest::EncodeCursor(of, next_after->id) + "\"}";
  };
  return SendList(call, std::move(list));
}

rest::Handled ListMonitorsForRun(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::MonitorFilter filter{.scope = call.caller.scope(),
                              .statuses = ReadStatuses(query, &problems),
                              .run_id = call.params[0]};
  filter.with_archived = query.Boolean("archived", false);
  query.Finish();
  problems.Check();
  if (base::CountCharacters(*filter.run_id) > domain::kRunIdCharsMax) return rest::Reply{200, "[]"};
  auto list = MonitorListParts(call, std::move(filter), kRunMonitorsMax);
  list.head = "[";
  list.tail = [](const domain::Monitor*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

rest::Handled UpdateMonitor(Call& call) {
  auto before = FindMonitor(call);
  const base::Uuid id = before.id;
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  const UpdateBody body = ReadUpdateBody(json.members, call.parts.config.limits, &problems);
  problems.Check();
  store::AuditEntry audit = AuditOf(call, "monitor.update", id.ToString());
  audit.detail = NamesOf(json.members);
  auto change = ReadChange(call, before, body);
  const auto update = [&] {
    return store::UpdateMonitor(call.session(), call.parts.clock, call.caller.scope(), id, change,
                                audit);
  };
  const auto outcome = WriteValidated(update, [&] {
    before = FindMonitor(call);
    change = ReadChange(call, before, body);
  });
  if (outcome.kind == store::ControlOutcome::Kind::kChanged) return ChangedMeanwhile("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(
        outcome.status, outcome.status == MonitorStatus::kCancelled ? "paused" : "changed"));
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return DetailReply(call, id, SaidOfChange(call, before, change, outcome));
}

rest::Handled ArchiveMonitor(Call& call) {
  const auto monitor = FindMonitor(call);
  CheckEmptyBody(call);
  const base::Uuid id = monitor.id;
  const auto outcome =
      store::ArchiveMonitor(call.session(), call.parts.clock, call.caller.scope(), id,
                            kArchivedReason, AuditOf(call, "monitor.archive", id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "archived"));
  }
  return DetailReply(call, id);
}

rest::Handled DeleteMonitor(Call& call) {
  const base::Uuid id = FindMonitor(call).id;
  const auto outcome =
      store::DeleteMonitor(call.session(), call.parts.clock, call.caller.scope(), id,
                           kDeletedReason, AuditOf(call, "monitor.delete", id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "deleted"));
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

rest::Handled CancelMonitor(Call& call) {
  const auto monitor = FindMonitor(call);
  CheckEmptyBody(call);
  const base::Uuid id = monitor.id;
  const auto outcome =
      store::CancelMonitor(call.session(), call.parts.clock, call.caller.scope(), id,
                           kCancelledReason, AuditOf(call, "monitor.cancel", id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "cancelled"));
  }
  return DetailReply(call, id);
}

rest::Handled TriggerMonitor(Call& call) {
  const auto monitor = FindMonitor(call);
  CheckEmptyBody(call);
  const base::Uuid id = monitor.id;
  const config::Config& config = call.parts.config;
  const auto outcome = store::TriggerMonitor(call.session(), call.parts.clock, call.caller.scope(),
                                             id, store::MaterialiseLimitsOf(config),
                                             AuditOf(call, "monitor.trigger", id.ToString()));
  if (outcome.kind == store::TriggerOutcome::Kind::kNotFound) return rest::NotFound("monitor");
  if (outcome.kind == store::TriggerOutcome::Kind::kConflict) {
    const auto status = outcome.organisation_stopped ? MonitorStatus::kPaused : outcome.status;
    return rest::Conflict(StatusMessage(status, "triggered"));
  }
  if (outcome.raise) call.parts.signals.Raise(*outcome.raise);
  store::ConfirmTrigger(call.session());
  base::Json said{{"monitor_id", id.ToString()},
                  {"tick_id", outcome.tick_id},
                  {"rows", outcome.rows},
                  {"joined", outcome.joined}};
  if (const auto warning = UnpaidWarning(call, monitor)) {
    said["warnings"] = base::Json::array({*warning});
  }
  return rest::Reply{202, base::DumpJson(said)};
}

rest::Handled TestWebhook(Call& call) {
  const auto monitor = FindMonitor(call);
  CheckEmptyBody(call);
  if (!monitor.webhook_url)
    return rest::Conflict("the monitor has no webhook_url: give it one with an update");
  call.parts.webhook_tester.Test(
      {monitor.org_id, monitor.id, *monitor.webhook_url, monitor.metadata_json},
      [answer = call.answer](const WebhookTestOutcome& outcome) {
        answer->Send(TestReply(outcome));
      });
  return rest::Parked{};
}

// The detail view shows every row, whatever their number.
rest::Handled ShowMonitor(Call& call) {
  auto found = FindMonitor(call);
  found.channel_ids = store::ReadMonitorChannels(call.session(), found.id);
  const auto monitor = std::make_shared<const domain::Monitor>(std::move(found));
  auto list = RowListParts(monitor, domain::RowJson::View::kDetail, -1);
  list.head = domain::MonitorDetailHead(*monitor, config::MostPricesMc(call.parts.config));
  list.limit = std::numeric_limits<int>::max();
  list.tail = [](const domain::Row*) { return std::string(domain::kMonitorDetailTail); };
  return SendList(call, std::move(list));
}

}  // namespace vedette::api
