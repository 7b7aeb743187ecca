#include "store/monitors.h"

#include <cstring>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/next_run_times.h"
#include "store/control_sql.h"
#include "store/rows_sql.h"

namespace vedette::store {
namespace {

using domain::MonitorStatus;

constexpr std::string_view kPausedReason = "paused through the API";

domain::Monitor ReadMonitor(const pqxx::row& r) {
  domain::Monitor m;
  m.id = ReadUuid(r["id"]);
  m.org_id = ReadUuid(r["org_id"]);
  m.team_id = ReadUuidOrNull(r["team_id"]);
  m.name = r["name"].c_str();
  m.frequency_text = r["frequency"].c_str();
  m.frequency = std::chrono::seconds(r["frequency_s"].as<std::int64_t>());
  m.tier = static_cast<domain::Tier>(r["tier"].as<int>());
  m.subject_type = static_cast<domain::SubjectType>(r["subject_type"].as<int>());
  m.status = static_cast<MonitorStatus>(r["status"].as<int>());
  m.disabled_reason = ReadTextOrNull(r["disabled_reason"]);
  m.key_columns = ReadTextArray(r["key_columns"]);
  m.struct_json = r["struct"].c_str();
  m.research_plan = ReadTextOrNull(r["research_plan"]);
  m.metadata_json = ReadTextOrNull(r["metadata"]);
  m.webhook_url = ReadTextOrNull(r["webhook_url"]);
  for (const std::int64_t type : ReadIntArray(r["webhook_event_types"])) {
    m.webhook_event_types.push_back(static_cast<domain::NotificationType>(type));
  }
  m.confirm_after = r["confirm_after"].as<int>();
  m.missing_confirmations = r["missing_confirmations"].as<int>();
  m.run_id = ReadTextOrNull(r["run_id"]);
  m.created_at = ReadTime(r["created_at"]);
  m.updated_at = ReadTime(r["updated_at"]);
  m.next_run_at = ReadTime(r["next_run_at"]);
  m.last_run_at = ReadTimeOrNull(r["last_run_at"]);
  m.row_count = r["row_count"].as<std::int64_t>();
  m.active_row_count = r["active_row_count"].as<std::int64_t>();
  m.organisation_stopped = r["organisation_stopped"].as<bool>();
  m.webhook_failing = r["webhook_failing"].as<bool>();
  return m;
}

// Behind every id.
base::Uuid LastId() {
  base::Uuid id;
  id.bytes.fill(0xFF);
  return id;
}

std::int64_t LockNumber(const base::Uuid& org_id, std::string_view key) {
  std::string text(org_id.bytes.begin(), org_id.bytes.end());
  const std::string hash = base::Sha256(text.append(key));
  std::int64_t number = 0;
  std::memcpy(&number, hash.data(), sizeof number);
  return number;
}

// What idempotency_key.answer holds.
std::string StoredAnswer(MonitorStatus status, const std::optional<std::string>& warnings_json) {
  base::Json answer{{"status", domain::MonitorStatusName(status)}};
  if (warnings_json) answer["warnings"] = base::ParseJsonOrThrow(*warnings_json);
  return base::DumpJson(answer);
}

// What the key stands for already, or nothing.
std::optional<CreateOutcome> FindFirst(Transaction& tx, const base::Uuid& org_id,
                                       const Idempotency& idempotency) {
  using Kind = CreateOutcome::Kind;
  const auto found = tx.Exec("idempotency_get", org_id, idempotency.key, idempotency.kept.count());
  if (found.empty()) return std::nullopt;
  const auto row = found[0];
  if (ReadBytea(row["body_sha256"]) != idempotency.body_sha256) {
    return CreateOutcome{.kind = Kind::kOtherBody};
  }
  CreateOutcome first{.kind = Kind::kRepeated};
  first.monitor_id = ReadUuid(row["monitor_id"]);
  const base::Json answer = base::ParseJsonOrThrow(row["answer"].c_str());
  first.status = domain::ParseMonitorStatus(answer.at("status").get<std::string>())
                     .value_or(MonitorStatus::kActive);
  if (answer.contains("warnings")) first.warnings_json = base::DumpJson(answer["warnings"]);
  first.row_ids = ReadRowIds(tx, first.monitor_id, row["row_count"].as<int>());
  return first;
}

// Where the key has been used, or is being used, the outcome that follows. Otherwise the key is
// this transaction's: its lock goes with the transaction, so that a crash frees it. Repetitions of
// what is done take no lock: they would be in each other's way.
std::optional<CreateOutcome> JudgeIdempotency(Transaction& tx, const base::Uuid& org_id,
                                              const Idempotency& idempotency) {
  if (auto first = FindFirst(tx, org_id, idempotency)) return first;
  const auto lock = tx.Exec("idempotency_lock", LockNumber(org_id, idempotency.key));
  if (!lock[0][0].as<bool>()) return CreateOutcome{.kind = CreateOutcome::Kind::kInProgress};
  tx.Exec("idempotency_expire", org_id, idempotency.key, idempotency.kept.count());
  return FindFirst(tx, org_id, idempotency);  // done since it was looked for
}

// The organisation's endpoint of that address, made if need be. Not by ON CONFLICT DO UPDATE: that
// would hold the endpoint's row against everybody else until the commit.
base::Uuid EnsureEndpoint(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                          const EndpointAddress& address) {
  const auto find = [&] {
    return tx.Exec("endpoint_find", org_id, address.scheme, address.host, address.port);
  };
  auto found = find();
  if (found.empty()) {
    tx.Exec("endpoint_insert", base::Uuid::V7(clock), org_id, address.scheme, address.host,
            address.port);
    found = find();
  }
  return ReadUuid(found.at(0)[0]);
}

void InsertMonitor(Transaction& tx, const base::Clock& clock, const NewMonitor& monitor,
                   const base::Uuid& id, MonitorStatus status) {
  const bool stopped = tx.Exec("organisation_share", monitor.org_id).at(0)[0].as<bool>();
  std::optional<std::string_view> url;
  std::optional<base::Uuid> endpoint_id;
  if (monitor.webhook) {
    url = monitor.webhook->url;
    endpoint_id = EnsureEndpoint(tx, clock, monitor.org_id, monitor.webhook->endpoint);
  }
  tx.Exec("monitor_insert", id, monitor.org_id, monitor.team_id, monitor.name,
          monitor.frequency_text, monitor.tier, monitor.subject_type, status, monitor.key_columns,
          monitor.struct_json, monitor.research_plan, monitor.metadata_json, url,
          monitor.webhook_event_types, endpoint_id, monitor.confirm_after,
          monitor.missing_confirmations, monitor.run_id);
  tx.Exec("monitor_sched_insert", id, monitor.org_id, monitor.team_id, monitor.tier,
          status == MonitorStatus::kActive && !stopped, monitor.frequency.count(),
          monitor.rows.size());
  if (monitor.upload_id) tx.Exec("import_insert", id, monitor.org_id, *monitor.upload_id);
}

void ApplyFields(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                 const base::Uuid& monitor_id, const MonitorChange& change) {
  std::optional<std::string_view> url;
  std::optional<base::Uuid> endpoint_id;
  if (change.webhook && *change.webhook) {
    url = (*change.webhook)->url;
    endpoint_id = EnsureEndpoint(tx, clock, org_id, (*change.webhook)->endpoint);
  }
  tx.Exec("monitor_change", monitor_id, change.name, change.webhook.has_value(), url, endpoint_id,
          change.metadata_json.has_value(), change.metadata_json.value_or(std::nullopt),
          change.research_plan.has_value(), change.research_plan.value_or(std::nullopt),
          change.frequency_text, change.confirm_after, change.missing_confirmations);
}

void ApplyFrequency(Transaction& tx, const base::Uuid& monitor_id, std::chrono::seconds frequency) {
  const auto sched = tx.Exec("monitor_change_frequency", monitor_id, frequency.count())[0];
  if (!sched["changed"].as<bool>()) return;
  const base::Timestamp anchor_at = ReadTime(sched["anchor_at"]);
  const base::Timestamp next_run_at = ReadTime(sched["next_run_at"]);
  const base::Timestamp now = ReadTime(sched["at"]);
  // A slot that is due and has not been cut yet, and the first one, stay due whatever the frequency
  // becomes.
  if (sched["live"].as<bool>() && (next_run_at == anchor_at || next_run_at <= now)) return;
  tx.Exec("sched_set_next", monitor_id, domain::FirstSlotAfter(anchor_at, frequency, now));
}

}  // namespace

std::optional<domain::Monitor> GetMonitor(Session& session, const MonitorScope& scope,
                                          const base::Uuid& monitor_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<domain::Monitor> {
    const auto found = tx.Exec("monitor_get", monitor_id, scope.org_id, scope.team_id);
    if (found.empty()) return std::nullopt;
    return ReadMonitor(found[0]);
  });
}

Page<domain::Monitor> ListMonitors(Session& session, const MonitorFilter& filter) {
  std::optional<std::vector<int>> statuses;
  if (!filter.statuses.empty()) {
    statuses.emplace();
    for (const MonitorStatus status : filter.statuses)
      statuses->push_back(static_cast<int>(status));
  }
  const base::Uuid before = filter.before_id.value_or(LastId());
  const std::optional<base::Uuid>& org_id = filter.scope.org_id;
  const std::optional<base::Uuid>& team_id = filter.scope.team_id;
  return Read(session, [&](Transaction& tx) {
    pqxx::result result;
    if (org_id && filter.run_id) {
      result = tx.Exec("monitor_list_run", org_id, filter.run_id, before, team_id, statuses,
                       filter.limit, filter.bytes_max);
    } else if (org_id) {
      result = tx.Exec("monitor_list_org", org_id, before, team_id, statuses, filter.text,
                       filter.limit, filter.bytes_max);
    } else {
      result = tx.Exec("monitor_list_all", before, statuses, filter.text, filter.limit,
                       filter.bytes_max);
    }
    Page<domain::Monitor> page;
    for (const auto& row : result) page.items.push_back(ReadMonitor(row));
    page.more = IsCutShort(result, filter.limit, filter.bytes_max);
    return page;
  });
}

CreateOutcome CreateMonitor(Session& session, const base::Clock& clock, const NewMonitor& monitor) {
  const std::vector<base::Uuid> row_ids = NewRowIds(clock, monitor.rows.size());
  return InTransaction(session, [&](Transaction& tx) -> CreateOutcome {
    if (monitor.team_id && tx.Exec("team_exists", monitor.org_id, *monitor.team_id).empty()) {
      return {.kind = CreateOutcome::Kind::kTeamNotFound};
    }
    if (monitor.idempotency) {
      if (auto known = JudgeIdempotency(tx, monitor.org_id, *monitor.idempotency)) return *known;
    }
    if (monitor.upload_id && tx.Exec("upload_share", *monitor.upload_id, monitor.org_id).empty()) {
      return {.kind = CreateOutcome::Kind::kUploadNotFound};
    }
    CreateOutcome created{
        .monitor_id = base::Uuid::V7(clock),
        .status = monitor.upload_id ? MonitorStatus::kStarting : MonitorStatus::kActive,
        .row_ids = row_ids,
        .warnings_json = monitor.warnings_json};
    InsertMonitor(tx, clock, monitor, created.monitor_id, created.status);
    InsertRows(tx, created.monitor_id, monitor.org_id, monitor.rows, row_ids, 0);
    if (monitor.idempotency) {
      tx.Exec("idempotency_insert", monitor.org_id, monitor.idempotency->key,
              Bytea(monitor.idempotency->body_sha256), created.monitor_id,
              StoredAnswer(created.status, monitor.warnings_json), monitor.rows.size());
    }
    return created;
  });
}

ControlOutcome UpdateMonitor(Session& session, const base::Clock& clock, const MonitorScope& scope,
                             const base::Uuid& monitor_id, const MonitorChange& change) {
  return InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    const bool pauses = change.is_active && !*change.is_active;
    if (locked->status == MonitorStatus::kStarting || locked->status == MonitorStatus::kFailed ||
        (pauses && locked->status == MonitorStatus::kCancelled)) {
      return {Kind::kConflict, locked->status, locked->disabled_reason};
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
    if (change.frequency_text) ApplyFrequency(tx, monitor_id, change.frequency);
    return done;
  });
}

}  // namespace vedette::store
