#include "store/monitors/monitors.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "domain/monitor/current_values.h"
#include "domain/monitor/timetable.h"
#include "store/endpoint_sql.h"
#include "store/idempotency.h"
#include "store/monitors/control.h"
#include "store/monitors/rows.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::MonitorStatus;

constexpr std::string_view kPausedReason = "paused through the API";

// Reads :monitor_columns.
domain::Monitor ReadMonitor(Columns& in) {
  domain::Monitor m;
  std::optional<std::string> field_versions;
  in.Into("id"_a = &m.id, "org_id"_a = &m.org_id, "team_id"_a = &m.team_id, "name"_a = &m.name,
          "frequency"_a = &m.frequency_text, "frequency_s"_a = &m.frequency, "tier"_a = &m.tier,
          "subject_type"_a = &m.subject_type, "status"_a = &m.status,
          "disabled_reason"_a = &m.disabled_reason, "key_columns"_a = &m.key_columns,
          "struct"_a = &m.struct_json, "research_plan"_a = &m.research_plan,
          "metadata"_a = &m.metadata_json, "webhook_url"_a = &m.webhook_url,
          "webhook_event_types"_a = &m.webhook_event_types, "confirm_after"_a = &m.confirm_after,
          "missing_confirmations"_a = &m.missing_confirmations, "run_id"_a = &m.run_id,
          "created_at"_a = &m.created_at, "updated_at"_a = &m.updated_at,
          "next_run_at"_a = &m.next_run_at, "last_run_at"_a = &m.last_run_at,
          "row_count"_a = &m.row_count, "active_row_count"_a = &m.active_row_count,
          "organisation_stopped"_a = &m.organisation_stopped,
          "webhook_failing"_a = &m.webhook_failing, "struct_version"_a = &m.struct_version,
          "field_versions"_a = &field_versions, "archived_at"_a = &m.archived_at,
          "failing_since"_a = &m.failing_since, "removed_row_count"_a = &m.removed_row_count,
          "rules"_a = &m.rules_json, "request_header_names"_a = &m.request_header_names,
          "balance_mc"_a = &m.balance_mc, "team_left_mc"_a = &m.team_left_mc,
          "webhook_waiting_until"_a = &m.webhook_waiting_until, "anchor_at"_a = &m.anchor_at,
          "schedule"_a = &m.schedule_json, "tags"_a = &m.tags, "probe"_a = &m.probe_json);
  m.field_versions = domain::ParseFieldVersions(field_versions);
  return m;
}

// What idempotency_key.answer holds.
std::string StoredAnswer(MonitorStatus status, const std::optional<std::string>& warnings_json) {
  base::Json answer{{"status", domain::MonitorStatusName(status)}};
  if (warnings_json) answer["warnings"] = base::ParseJsonOrThrow(*warnings_json);
  return base::DumpJson(answer);
}

// What a request with a key that is in use gets.
CreateOutcome OutcomeOf(Transaction& tx, const KeyUse& use) {
  using Kind = CreateOutcome::Kind;
  if (use.kind == KeyUse::Kind::kInProgress) return {.kind = Kind::kInProgress};
  // A job's request is another one, whatever its hash.
  if (use.kind == KeyUse::Kind::kOtherRequest || !use.monitor_id) return {.kind = Kind::kOtherBody};
  CreateOutcome first{.kind = Kind::kRepeated};
  first.monitor_id = *use.monitor_id;
  const base::Json answer = base::ParseJsonOrThrow(use.answer_json);
  first.status = domain::ParseMonitorStatus(answer.at("status").get<std::string>())
                     .value_or(MonitorStatus::kActive);
  if (answer.contains("warnings")) first.warnings_json = base::DumpJson(answer["warnings"]);
  first.row_ids = ReadRowIds(tx, first.monitor_id, use.row_count);
  return first;
}

// No channels are null.
std::optional<std::vector<base::Uuid>> ChannelsParam(const std::vector<base::Uuid>& ids) {
  if (ids.empty()) return std::nullopt;
  return ids;
}

// No tags are null.
std::optional<std::vector<std::string>> TagsParam(const std::vector<std::string>& tags) {
  if (tags.empty()) return std::nullopt;
  return tags;
}

// The statuses of a filter as numbers; all are null.
std::optional<std::vector<int>> StatusesParam(const MonitorFilter& filter) {
  if (filter.statuses.empty()) return std::nullopt;
  std::vector<int> statuses;
  for (const MonitorStatus status : filter.statuses) statuses.push_back(static_cast<int>(status));
  return statuses;
}

// The parameters of sealed headers; all are null where there are none.
struct HeaderParams {
  std::optional<std::string> bytes;
  std::optional<std::string> key_id;
  std::optional<std::vector<std::string>> names;
};
HeaderParams ParamsOf(const std::optional<SealedHeaders>& headers) {
  if (!headers) return {};
  return {Bytea(headers->sealed.bytes), headers->sealed.key_id, headers->names};
}

// A new monitor's anchor and first slot; now where they are absent.
struct FirstSlot {
  std::optional<base::Timestamp> anchor_at;
  std::chrono::microseconds lead{0};
  std::optional<base::Timestamp> next_run_at;
};
FirstSlot FirstSlotOf(const base::Clock& clock, const NewMonitor& monitor, const base::Uuid& id) {
  if (monitor.schedule_json) {
    const base::Timestamp now = clock.Now();
    const domain::Timetable timetable(now, monitor.frequency, monitor.schedule_json, id);
    return {.next_run_at = timetable.FirstAfter(now)};
  }
  if (!monitor.anchor_at) {
    if (monitor.upload_id) return {};  // its slots begin when its rows are there
    return {.lead = domain::AnchorLead(id, monitor.frequency, monitor.anchor_spread)};
  }
  // Slots before the anchor do not exist; behind it the first check is due at once.
  const bool ahead = *monitor.anchor_at > clock.Now();
  return {.anchor_at = monitor.anchor_at, .next_run_at = ahead ? monitor.anchor_at : std::nullopt};
}

void ApplyFields(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                 const base::Uuid& monitor_id, const MonitorChange& change) {
  std::optional<std::string_view> url;
  std::optional<base::Uuid> endpoint_id;
  if (change.webhook && *change.webhook) {
    url = (*change.webhook)->url;
    endpoint_id = EnsureEndpoint(tx, clock, org_id, (*change.webhook)->endpoint);
  }
  const HeaderParams headers = ParamsOf(change.request_headers.value_or(std::nullopt));
  tx.Exec<"monitor_change">(
      "monitor_id"_a = monitor_id, "name"_a = change.name,
      "sets_webhook"_a = change.webhook.has_value(), "webhook_url"_a = url,
      "endpoint_id"_a = endpoint_id, "sets_metadata"_a = change.metadata_json.has_value(),
      "metadata"_a = change.metadata_json.value_or(std::nullopt),
      "sets_research_plan"_a = change.research_plan.has_value(),
      "research_plan"_a = change.research_plan.value_or(std::nullopt),
      "frequency"_a = change.frequency_text, "confirm_after"_a = change.confirm_after,
      "missing_confirmations"_a = change.missing_confirmations,
      "sets_rules"_a = change.rules_json.has_value(),
      "rules"_a = change.rules_json.value_or(std::nullopt),
      "sets_request_headers"_a = change.request_headers.has_value(),
      "request_headers"_a = headers.bytes, "request_headers_key_id"_a = headers.key_id,
      "request_header_names"_a = headers.names, "sets_channels"_a = change.channel_ids.has_value(),
      "channel_ids"_a = ChannelsParam(change.channel_ids.value_or(std::vector<base::Uuid>())),
      "sets_tags"_a = change.tags.has_value(),
      "tags"_a = TagsParam(change.tags.value_or(std::vector<std::string>())),
      "sets_probe"_a = change.probe_json.has_value(),
      "probe"_a = change.probe_json.value_or(std::nullopt));
  if (change.probe_json) SetLogin(tx, org_id, monitor_id, change.login);
}

// What a monitor watches for, as it stands.
struct Definition {
  std::string struct_json;
  int struct_version = 0;
  domain::FieldVersions field_versions;
  domain::SubjectType subject_type = domain::SubjectType::kCompany;
  std::optional<std::int64_t> former_tick_id;
  std::optional<std::int64_t> open_tick_id;

  // The open tick began with this, and nothing earlier is kept for it.
  bool IsOfOpenTick() const {
    return open_tick_id && (!former_tick_id || *former_tick_id < *open_tick_id);
  }
  std::string Json() const {
    return base::DumpJson({{"struct", struct_json},
                           {"struct_version", struct_version},
                           {"subject_type", static_cast<int>(subject_type)}});
  }
};

Definition ReadDefinition(Transaction& tx, const base::Uuid& monitor_id) {
  const auto found = tx.Exec<"monitor_definition">("monitor_id"_a = monitor_id);
  Definition definition;
  std::optional<std::string> field_versions;
  Columns(found.at(0))
      .Into("struct"_a = &definition.struct_json, "struct_version"_a = &definition.struct_version,
            "field_versions"_a = &field_versions, "subject_type"_a = &definition.subject_type,
            "former_tick_id"_a = &definition.former_tick_id,
            "open_tick_id"_a = &definition.open_tick_id);
  definition.field_versions = domain::ParseFieldVersions(field_versions);
  return definition;
}

// The fields that are forgotten.
std::vector<std::string> ApplyDefinition(Transaction& tx, const base::Uuid& monitor_id,
                                         const MonitorChange& change) {
  const Definition before = ReadDefinition(tx, monitor_id);
  std::vector<std::string> changed;
  if (change.struct_json) {
    changed = domain::ChangedFields(base::ParseJsonOrThrow(before.struct_json),
                                    base::ParseJsonOrThrow(*change.struct_json));
  }
  const int version = before.struct_version + (changed.empty() ? 0 : 1);
  domain::FieldVersions versions = before.field_versions;
  for (const std::string& field : changed) versions[field] = version;
  std::optional<std::int64_t> former_tick_id;
  std::optional<std::string> former;
  if (before.IsOfOpenTick()) {
    former_tick_id = before.open_tick_id;
    former = before.Json();
  }
  tx.Exec<"monitor_change_definition">(
      "monitor_id"_a = monitor_id, "struct"_a = change.struct_json, "struct_version"_a = version,
      "field_versions"_a =
          versions.empty() ? std::nullopt : std::optional(domain::FieldVersionsJson(versions)),
      "subject_type"_a = change.subject_type, "former_tick_id"_a = former_tick_id,
      "former"_a = former);
  return changed;
}

// The frequency or the schedule that goes on from now.
void ApplyTimetable(Transaction& tx, const base::Uuid& monitor_id, const MonitorChange& change) {
  const auto sched = tx.Exec<"monitor_change_frequency">("monitor_id"_a = monitor_id,
                                                         "frequency_s"_a = change.frequency.count(),
                                                         "schedule"_a = change.schedule_json)
                         .at(0);
  bool changed = false;
  bool live = false;
  base::Timestamp anchor_at{};
  base::Timestamp next_run_at{};
  base::Timestamp now{};
  Columns(sched).Into("changed"_a = &changed, "live"_a = &live, "anchor_at"_a = &anchor_at,
                      "next_run_at"_a = &next_run_at, "at"_a = &now);
  if (!changed) return;
  // A slot that is about to be cut, and the first one of an anchor, stay due whatever follows.
  const bool first = next_run_at == anchor_at && !change.schedule_json;
  if (live && (first || next_run_at <= now + domain::kCutAhead)) return;
  const domain::Timetable timetable(anchor_at, change.frequency, change.schedule_json, monitor_id);
  tx.Exec<"sched_set_next">("monitor_id"_a = monitor_id,
                            "next_run_at"_a = timetable.FirstToCut(now));
}

}  // namespace

void AddMonitor(Transaction& tx, const base::Clock& clock, const NewMonitor& monitor,
                const base::Uuid& id, MonitorStatus status) {
  const bool stopped = ReadOne<bool>(tx.Exec<"organisation_share">("org_id"_a = monitor.org_id));
  std::optional<std::string_view> url;
  std::optional<base::Uuid> endpoint_id;
  if (monitor.webhook) {
    url = monitor.webhook->url;
    endpoint_id = monitor.endpoint_id
                      ? *monitor.endpoint_id
                      : EnsureEndpoint(tx, clock, monitor.org_id, monitor.webhook->endpoint);
  }
  const HeaderParams headers = ParamsOf(monitor.request_headers);
  const FirstSlot first = FirstSlotOf(clock, monitor, id);
  tx.Exec<"monitor_insert">(
      "id"_a = id, "org_id"_a = monitor.org_id, "team_id"_a = monitor.team_id,
      "name"_a = monitor.name, "frequency"_a = monitor.frequency_text, "tier"_a = monitor.tier,
      "subject_type"_a = monitor.subject_type, "status"_a = status,
      "key_columns"_a = monitor.key_columns, "struct"_a = monitor.struct_json,
      "research_plan"_a = monitor.research_plan, "metadata"_a = monitor.metadata_json,
      "webhook_url"_a = url, "webhook_event_types"_a = monitor.webhook_event_types,
      "endpoint_id"_a = endpoint_id, "confirm_after"_a = monitor.confirm_after,
      "missing_confirmations"_a = monitor.missing_confirmations, "run_id"_a = monitor.run_id,
      "rules"_a = monitor.rules_json, "request_headers"_a = headers.bytes,
      "request_headers_key_id"_a = headers.key_id, "request_header_names"_a = headers.names,
      "channel_ids"_a = ChannelsParam(monitor.channel_ids), "tags"_a = TagsParam(monitor.tags),
      "probe"_a = monitor.probe_json);
  if (monitor.login) SetLogin(tx, monitor.org_id, id, monitor.login);
  tx.Exec<"monitor_sched_insert">(
      "monitor_id"_a = id, "org_id"_a = monitor.org_id, "team_id"_a = monitor.team_id,
      "tier"_a = monitor.tier, "live"_a = status == MonitorStatus::kActive && !stopped,
      "frequency_s"_a = monitor.frequency.count(), "anchor_at"_a = first.anchor_at,
      "lead_us"_a = first.lead.count(), "next_run_at"_a = first.next_run_at,
      "row_count"_a = monitor.rows.size(), "schedule"_a = monitor.schedule_json);
  if (monitor.upload_id)
    tx.Exec<"import_insert">("monitor_id"_a = id, "org_id"_a = monitor.org_id,
                             "upload_id"_a = *monitor.upload_id);
}

std::optional<domain::Monitor> GetMonitor(Session& session, const Scope& scope,
                                          const base::Uuid& monitor_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<domain::Monitor> {
    const auto found = tx.Exec<"monitor_get">(
        "monitor_id"_a = monitor_id, "org_id"_a = scope.org_id, "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    Columns in(found.at(0));
    return ReadMonitor(in);
  });
}

Page<domain::Monitor> ListMonitors(Session& session, const MonitorFilter& filter) {
  const std::optional<std::vector<int>> statuses = StatusesParam(filter);
  // A named value refers to what it names (store/param.h), which therefore stands here.
  const base::Uuid before_id = filter.before_id.value_or(base::Uuid::Last());
  const auto before = "before"_a = before_id;
  const auto org = "org_id"_a = filter.scope.org_id;
  const auto team = "team_id"_a = filter.scope.team_id;
  const auto shown = "statuses"_a = statuses;
  const auto limit = "limit"_a = filter.limit;
  const auto bytes = "bytes_max"_a = filter.bytes_max;
  const auto archived = "with_archived"_a = filter.with_archived;
  const auto failing = "only_failing"_a = filter.only_failing;
  return Read(session, [&](Transaction& tx) {
    pqxx::result result;
    if (filter.scope.org_id && filter.run_id) {
      result = tx.Exec<"monitor_list_run">(org, "run_id"_a = filter.run_id, before, team, shown,
                                           limit, bytes, archived, failing);
    } else if (filter.text) {
      result = tx.Exec<"monitor_list_named">(org, "text"_a = filter.text,
                                             "text_id"_a = base::Uuid::Parse(*filter.text),
                                             "look_max"_a = kMonitorsLookedAtMax, before, team,
                                             shown, limit, bytes, archived, failing);
    } else if (filter.scope.org_id && filter.only_failing) {
      result = tx.Exec<"monitor_list_org_failing">(org, before, team, shown, limit, bytes, archived,
                                                   failing);
    } else if (filter.scope.org_id) {
      result = tx.Exec<"monitor_list_org">(org, before, team, shown, limit, bytes, archived);
    } else if (filter.only_failing) {
      result =
          tx.Exec<"monitor_list_all_failing">(before, team, shown, limit, bytes, archived, failing);
    } else {
      result = tx.Exec<"monitor_list_all">(before, shown, limit, bytes, archived);
    }
    return ReadPage<domain::Monitor>(result, filter.limit, filter.bytes_max, ReadMonitor);
  });
}

Page<domain::Monitor> SearchMonitors(Session& session, const MonitorFilter& filter,
                                     const MonitorSearch& search) {
  return Read(session, [&](Transaction& tx) {
    const auto result = tx.Exec<"monitor_list_sought">(
        "org_id"_a = filter.scope.org_id, "team_id"_a = filter.scope.team_id,
        "before"_a = filter.before_id.value_or(base::Uuid::Last()),
        "statuses"_a = StatusesParam(filter), "with_archived"_a = filter.with_archived,
        "only_failing"_a = filter.only_failing, "tags"_a = TagsParam(search.tags),
        "text"_a = search.name, "fresh"_a = search.fresh, "look_max"_a = kMonitorsSoughtMax,
        "limit"_a = filter.limit, "bytes_max"_a = filter.bytes_max);
    return ReadPage<domain::Monitor>(result, filter.limit, filter.bytes_max, ReadMonitor);
  });
}

std::optional<base::Uuid> EndOfSearch(Session& session, const MonitorFilter& filter,
                                      const MonitorSearch& search) {
  return Read(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const auto found = tx.Exec<"monitor_sought_end">(
        "org_id"_a = filter.scope.org_id,
        "before"_a = filter.before_id.value_or(base::Uuid::Last()),
        "tags"_a = TagsParam(search.tags), "look_max"_a = kMonitorsSoughtMax);
    if (found.empty()) return std::nullopt;
    base::Uuid id;
    Columns(found.at(0)).Into("id"_a = &id);
    return id;
  });
}

std::optional<base::Uuid> EndOfLook(Session& session, const MonitorFilter& filter) {
  return Read(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const auto found =
        tx.Exec<"monitor_look_end">("org_id"_a = filter.scope.org_id,
                                    "before"_a = filter.before_id.value_or(base::Uuid::Last()),
                                    "look_max"_a = kMonitorsLookedAtMax);
    if (found.empty()) return std::nullopt;
    base::Uuid id;
    Columns(found.at(0)).Into("id"_a = &id);
    return id;
  });
}

std::optional<CreateOutcome> FindMonitorCreated(Session& session, const base::Uuid& org_id,
                                                const Idempotency& idempotency) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<CreateOutcome> {
    const auto use = FindKeyUse(tx, org_id, idempotency);
    if (!use) return std::nullopt;
    return OutcomeOf(tx, *use);
  });
}

CreateOutcome CreateMonitor(Session& session, const base::Clock& clock, const NewMonitor& monitor,
                            const std::optional<AuditEntry>& audit) {
  const std::vector<base::Uuid> row_ids = NewRowIds(clock, monitor.rows.size());
  return InTransaction(session, [&](Transaction& tx) -> CreateOutcome {
    if (monitor.idempotency) {
      const auto use = CheckIdempotency(tx, monitor.org_id, *monitor.idempotency);
      if (use) return OutcomeOf(tx, *use);
    }
    if (monitor.team_id &&
        tx.Exec<"team_hold">("org_id"_a = monitor.org_id, "team_id"_a = *monitor.team_id).empty()) {
      return {.kind = CreateOutcome::Kind::kTeamNotFound};
    }
    if (monitor.upload_id &&
        tx.Exec<"upload_use">("upload_id"_a = *monitor.upload_id, "org_id"_a = monitor.org_id)
            .empty()) {
      return {.kind = CreateOutcome::Kind::kUploadNotFound};
    }
    CreateOutcome created{
        .monitor_id = base::Uuid::V7(clock),
        .status = monitor.upload_id ? MonitorStatus::kStarting : MonitorStatus::kActive,
        .row_ids = row_ids,
        .warnings_json = monitor.warnings_json};
    AddMonitor(tx, clock, monitor, created.monitor_id, created.status);
    InsertRows(tx, created.monitor_id, monitor.org_id, monitor.rows, row_ids, 0);
    if (monitor.idempotency) {
      StoreMonitorKey(tx, monitor.org_id, *monitor.idempotency, created.monitor_id,
                      StoredAnswer(created.status, monitor.warnings_json), monitor.rows.size());
    }
    std::optional<AuditEntry> entry = audit;
    if (entry) entry->target = created.monitor_id.ToString();
    AuditIfGiven(tx, clock, monitor.org_id, entry);
    return created;
  });
}

ControlOutcome UpdateMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const MonitorChange& change,
                             const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    const bool pauses = change.is_active && !*change.is_active;
    if (locked->status == MonitorStatus::kStarting || locked->status == MonitorStatus::kFailed ||
        (pauses && locked->status == MonitorStatus::kCancelled)) {
      return {Kind::kConflict, locked->status, locked->disabled_reason};
    }
    if (change.of_version && *change.of_version != locked->updated_at) {
      return {.kind = Kind::kChanged};
    }
    ApplyFields(tx, clock, locked->org_id, monitor_id, change);
    ControlOutcome done{Kind::kDone, locked->status, locked->disabled_reason};
    const MonitorStatus target = pauses ? MonitorStatus::kPaused : MonitorStatus::kActive;
    if (change.is_active && locked->status != target) {
      done.status = target;
      done.disabled_reason.reset();
      if (pauses) done.disabled_reason = kPausedReason;
      SetMonitorStatus(tx, monitor_id, done.status, done.disabled_reason);
    }
    // After the status: that locks the organisation, which comes before monitor_sched everywhere.
    if (change.frequency_text) ApplyTimetable(tx, monitor_id, change);
    if (change.struct_json || change.subject_type) {
      done.forgotten = ApplyDefinition(tx, monitor_id, change);
    }
    if (change.tier)
      tx.Exec<"monitor_change_tier">("monitor_id"_a = monitor_id, "tier"_a = *change.tier);
    AuditIfGiven(tx, clock, locked->org_id, audit);
    return done;
  });
}

std::optional<MonitorLogin> ReadLogin(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& monitor_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<MonitorLogin> {
    const auto found =
        tx.Exec<"monitor_login_read">("monitor_id"_a = monitor_id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    MonitorLogin login;
    std::optional<std::string> secrets;
    std::optional<std::string> secrets_key_id;
    std::optional<std::string> page_session;
    std::optional<std::string> session_key_id;
    Columns(found.at(0))
        .Into("version"_a = &login.version, "secrets"_a = OptionalBytesInto{&secrets},
              "secrets_key_id"_a = &secrets_key_id, "session"_a = OptionalBytesInto{&page_session},
              "session_key_id"_a = &session_key_id);
    if (secrets) login.secrets = Sealed{std::move(*secrets), secrets_key_id.value_or("")};
    if (page_session) login.session = Sealed{std::move(*page_session), session_key_id.value_or("")};
    return login;
  });
}

bool KeepPageSession(Session& session, const base::Uuid& org_id, const base::Uuid& monitor_id,
                     const base::Uuid& version, const Sealed& page_session) {
  return InTransaction(session, [&](Transaction& tx) {
    return !tx.Exec<"monitor_login_keep">(
                  "monitor_id"_a = monitor_id, "org_id"_a = org_id, "version"_a = version,
                  "session"_a = Bytea(page_session.bytes), "session_key_id"_a = page_session.key_id)
                .empty();
  });
}

void SetLogin(Transaction& tx, const base::Uuid& org_id, const base::Uuid& monitor_id,
              const std::optional<NewLogin>& login) {
  tx.Exec<"monitor_login_clear">("monitor_id"_a = monitor_id);
  if (!login) return;
  std::optional<std::string> secrets;
  std::optional<std::string> key_id;
  if (login->secrets) {
    secrets = Bytea(login->secrets->bytes);
    key_id = login->secrets->key_id;
  }
  tx.Exec<"monitor_login_set">("monitor_id"_a = monitor_id, "org_id"_a = org_id,
                               "secrets"_a = secrets, "secrets_key_id"_a = key_id);
}

}  // namespace vedette::store
