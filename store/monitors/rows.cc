#include "store/monitors/rows.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "domain/monitor/timetable.h"
#include "store/checks/state_blocks.h"
#include "store/monitors/control.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr std::size_t kInsertRowsMax = 2000;
constexpr int kReadIdsMax = 20000;
constexpr std::size_t kFindKeysMax = 10000;

// Reads :row_columns.
domain::Row ReadRow(Columns& in) {
  domain::Row row;
  in.Into("id"_a = &row.id, "position"_a = &row.position, "subject"_a = &row.subject_json,
          "context"_a = &row.context_json, "baseline"_a = &row.baseline_json,
          "pending"_a = &row.pending_json, "known"_a = &row.known_json, "seen"_a = &row.seen_json,
          "struct_version"_a = &row.struct_version, "is_active"_a = &row.is_active,
          "disabled_reason"_a = &row.disabled_reason, "created_at"_a = &row.created_at,
          "updated_at"_a = &row.updated_at, "last_run_at"_a = &row.last_run_at,
          "failing"_a = &row.failing);
  return row;
}

// A row of row_list, where removed rows keep their places.
struct ListedRow {
  domain::Row row;
  bool removed = false;
};
ListedRow ReadListedRow(Columns& in) {
  ListedRow listed{ReadRow(in)};
  in.Into("removed"_a = &listed.removed);
  return listed;
}

domain::Row ReadRowWithFailure(Columns& in) {
  domain::Row row = ReadRow(in);
  in.Into("failing_since"_a = &row.failing_since, "failure_message"_a = &row.failure_message);
  return row;
}

bool TakesRows(domain::MonitorStatus status) {
  return status != domain::MonitorStatus::kStarting && status != domain::MonitorStatus::kFailed;
}

struct Duplicate {
  std::size_t index;
  int position;
};

// Looks for a row of the monitor with the key of one of `rows`.
std::optional<Duplicate> FindDuplicate(Transaction& tx, const base::Uuid& monitor_id,
                                       const std::vector<domain::RowValues>& rows) {
  for (std::size_t from = 0; from < rows.size(); from += kFindKeysMax) {
    const std::size_t until = std::min(rows.size(), from + kFindKeysMax);
    std::vector<std::string> hashes;
    for (std::size_t i = from; i < until; ++i) hashes.push_back(rows[i].key_hash);
    const auto known = FindKnownRow(tx, monitor_id, hashes);
    if (known) return Duplicate{from + known->index, known->position};
  }
  return std::nullopt;
}

}  // namespace

std::vector<base::Uuid> NewRowIds(const base::Clock& clock, std::size_t n) {
  std::vector<base::Uuid> ids;
  ids.reserve(n);
  for (std::size_t i = 0; i < n; ++i) ids.push_back(base::Uuid::V7(clock));
  return ids;
}

std::optional<KnownRow> FindKnownRow(Transaction& tx, const base::Uuid& monitor_id,
                                     const std::vector<std::string>& key_hashes) {
  std::vector<std::string> parameter;
  parameter.reserve(key_hashes.size());
  for (const std::string& hash : key_hashes) parameter.push_back(Bytea(hash));
  const auto found =
      tx.Exec<"row_find_keys">("monitor_id"_a = monitor_id, "key_hashes"_a = parameter);
  if (found.empty()) return std::nullopt;
  std::string hash;
  KnownRow known;
  Columns(found.at(0)).Into("key_hash"_a = BytesInto{&hash}, "position"_a = &known.position);
  const auto it = std::find(key_hashes.begin(), key_hashes.end(), hash);
  if (it == key_hashes.end()) throw std::logic_error("a row with another key was found");
  known.index = static_cast<std::size_t>(it - key_hashes.begin());
  return known;
}

void InsertRows(Transaction& tx, const base::Uuid& monitor_id, const base::Uuid& org_id,
                const std::vector<domain::RowValues>& rows, const std::vector<base::Uuid>& ids,
                int first_position) {
  for (std::size_t from = 0; from < rows.size(); from += kInsertRowsMax) {
    const std::size_t until = std::min(rows.size(), from + kInsertRowsMax);
    Rows<Column<"id", base::Uuid>, Column<"key_hash", std::string>,
         Column<"subject", std::string_view>, Column<"context", std::optional<std::string_view>>,
         Column<"baseline", std::string_view>>
        batch;
    for (std::size_t i = from; i < until; ++i) {
      const domain::RowValues& row = rows[i];
      batch.Add(ids[i], Bytea(row.key_hash), row.subject_json, row.context_json, row.baseline_json);
    }
    const int position = first_position + static_cast<int>(from);
    tx.Exec<"row_insert">("monitor_id"_a = monitor_id, "position"_a = position, "org_id"_a = org_id,
                          batch);
  }
  AddStates(tx, monitor_id, first_position, first_position + static_cast<int>(rows.size()));
}

std::vector<base::Uuid> ReadRowIds(Transaction& tx, const base::Uuid& monitor_id, int count) {
  std::vector<base::Uuid> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (int from = 0; from < count; from += kReadIdsMax) {
    const int until = std::min(count, from + kReadIdsMax);
    for (const base::Uuid& id : ReadEach<base::Uuid>(
             tx.Exec<"row_ids">("monitor_id"_a = monitor_id, "from"_a = from, "until"_a = until))) {
      ids.push_back(id);
    }
  }
  return ids;
}

Page<domain::Row> ListRows(Session& session, const base::Uuid& monitor_id, int after_position,
                           int limit, std::size_t bytes_max) {
  // Pages of removed rows alone are passed over.
  for (int after = after_position;;) {
    const auto read = Read(session, [&](Transaction& tx) {
      return ReadPage<ListedRow>(tx.Exec<"row_list">("monitor_id"_a = monitor_id, "after"_a = after,
                                                     "limit"_a = limit, "bytes_max"_a = bytes_max),
                                 limit, bytes_max, ReadListedRow);
    });
    Page<domain::Row> page{{}, read.more};
    for (const ListedRow& listed : read.items) {
      if (!listed.removed) page.items.push_back(listed.row);
    }
    if (!page.items.empty() || !read.more) return page;
    after = read.items.back().row.position;
  }
}

void ReadFailures(Session& session, const base::Uuid& monitor_id, std::vector<domain::Row>* rows) {
  std::map<int, domain::Row*> failing;  // by position
  std::vector<int> positions;
  for (domain::Row& row : *rows) {
    if (!row.failing) continue;
    failing[row.position] = &row;
    positions.push_back(row.position);
  }
  if (failing.empty()) return;
  Read(session, [&](Transaction& tx) {
    for (const auto& found :
         tx.Exec<"row_failures">("monitor_id"_a = monitor_id, "positions"_a = positions)) {
      int position = 0;
      std::optional<base::Timestamp> since;
      std::optional<std::string> message;
      Columns(found).Into("position"_a = &position, "failing_since"_a = &since,
                          "failure_message"_a = &message);
      failing.at(position)->failing_since = since;
      failing.at(position)->failure_message = std::move(message);
    }
  });
}

std::optional<domain::Row> GetRow(Session& session, const base::Uuid& monitor_id,
                                  const base::Uuid& row_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<domain::Row> {
    const auto found = tx.Exec<"row_get">("monitor_id"_a = monitor_id, "row_id"_a = row_id);
    if (found.empty()) return std::nullopt;
    Columns in(found.at(0));
    return ReadRowWithFailure(in);
  });
}

std::optional<base::Uuid> FindRowByKey(Session& session, const base::Uuid& monitor_id,
                                       const std::string& key_hash) {
  return Read(session, [&](Transaction& tx) {
    return ReadFirst<base::Uuid>(
        tx.Exec<"row_id_by_key">("monitor_id"_a = monitor_id, "key_hash"_a = Bytea(key_hash)));
  });
}

Page<domain::Row> ListChosenRows(Session& session, const domain::Monitor& monitor, RowChoice choice,
                                 const RowRange& range, int limit, std::size_t bytes_max) {
  const std::chrono::seconds longest =
      monitor.schedule_json ? domain::ParseStoredSchedule(*monitor.schedule_json).distances.longest
                            : monitor.frequency;
  return Read(session, [&](Transaction& tx) {
    return ReadPage<domain::Row>(
        tx.Exec<"row_list_chosen">(
            "monitor_id"_a = monitor.id, "after"_a = range.after_position,
            "last"_a = range.last_position, "frequency_s"_a = longest.count(), "limit"_a = limit,
            "bytes_max"_a = bytes_max, "failing"_a = choice == RowChoice::kFailing),
        limit, bytes_max, ReadRowWithFailure);
  });
}

AddRowsOutcome AddRows(Session& session, const base::Clock& clock, const Scope& scope,
                       const base::Uuid& monitor_id, const std::vector<domain::RowValues>& rows,
                       int struct_version, std::int64_t rows_per_monitor_max,
                       const std::optional<AuditEntry>& audit) {
  const std::vector<base::Uuid> ids = NewRowIds(clock, rows.size());
  return InTransaction(session, [&](Transaction& tx) -> AddRowsOutcome {
    using Kind = AddRowsOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    if (locked->struct_version != struct_version) return {.kind = Kind::kChanged};
    const auto count = ReadOne<std::int64_t>(tx.Exec<"row_counts">("monitor_id"_a = monitor_id));
    if (count + static_cast<std::int64_t>(rows.size()) > rows_per_monitor_max) {
      return {.kind = Kind::kTooMany, .row_count = count};
    }
    if (const auto duplicate = FindDuplicate(tx, monitor_id, rows)) {
      return {.kind = Kind::kDuplicateKey,
              .duplicate_index = duplicate->index,
              .duplicate_position = duplicate->position};
    }
    InsertRows(tx, monitor_id, locked->org_id, rows, ids, static_cast<int>(count));
    tx.Exec<"row_counts_add">("monitor_id"_a = monitor_id, "added"_a = rows.size());
    tx.Exec<"monitor_touch">("monitor_id"_a = monitor_id);
    AuditIfGiven(tx, clock, locked->org_id, audit);
    return {.status = locked->status, .row_ids = ids};
  });
}

ControlOutcome SwitchRow(Session& session, const base::Clock& clock, const Scope& scope,
                         const base::Uuid& monitor_id, const base::Uuid& row_id, bool is_active,
                         const std::optional<std::string>& disabled_reason,
                         const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    const auto switched = tx.Exec<"row_switch">(
        "monitor_id"_a = monitor_id, "row_id"_a = row_id, "is_active"_a = is_active,
        "disabled_reason"_a = is_active ? std::nullopt : disabled_reason);
    if (switched.empty()) return {.kind = Kind::kNotFound};
    const int moved = ReadOne<int>(switched);
    if (moved != 0) tx.Exec<"row_switch_count">("monitor_id"_a = monitor_id, "moved"_a = moved);
    AuditIfGiven(tx, clock, locked->org_id, audit);
    return {.status = locked->status};
  });
}

ControlOutcome RemoveRow(Session& session, const base::Clock& clock, const Scope& scope,
                         const base::Uuid& monitor_id, const base::Uuid& row_id,
                         const std::optional<AuditEntry>& audit) {
  const ControlOutcome outcome = InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    const auto was_active =
        ReadFirst<bool>(tx.Exec<"row_remove">("monitor_id"_a = monitor_id, "row_id"_a = row_id));
    if (!was_active) return {.kind = Kind::kNotFound};
    tx.Exec<"row_remove_count">("monitor_id"_a = monitor_id, "active"_a = *was_active ? 1 : 0);
    AuditIfGiven(tx, clock, locked->org_id, audit);
    return {.status = locked->status};
  });
  // Apart, as who records a check locks what it keeps before it locks the monitor.
  if (outcome.kind == ControlOutcome::Kind::kDone) ForgetSnapshots(session, row_id);
  return outcome;
}

ControlOutcome ChangeRowColumns(Session& session, const base::Clock& clock, const Scope& scope,
                                const base::Uuid& monitor_id, const base::Uuid& row_id,
                                const base::Json& columns, const ColumnsCheck& check,
                                const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    const auto found = tx.Exec<"row_context">("monitor_id"_a = monitor_id, "row_id"_a = row_id);
    if (found.empty()) return {.kind = Kind::kNotFound};
    std::string subject;
    std::optional<std::string> before;
    Columns(found.at(0)).Into("subject"_a = &subject, "context"_a = &before);
    base::Json context = before ? base::ReadJsonCell(*before) : base::Json::object();
    for (const auto& [name, value] : columns.items()) {
      if (value.is_null()) {
        context.erase(name);
      } else {
        context[name] = value;
      }
    }
    base::Json all = base::ReadJsonCell(subject);
    all.update(context);
    check(all);
    tx.Exec<"row_set_context">(
        "monitor_id"_a = monitor_id, "row_id"_a = row_id,
        "context"_a = context.empty() ? std::nullopt : std::optional(base::DumpJson(context)));
    AuditIfGiven(tx, clock, locked->org_id, audit);
    return {.status = locked->status};
  });
}

namespace {

// Contents of snapshots that were deleted in this transaction, as rows of (org_id, hash), which are
// locked: those that nothing has any more go.
void ForgetContents(Transaction& tx, const pqxx::result& locked) {
  Rows<Column<"org_id", base::Uuid>, Column<"hash", std::string>> contents;
  for (const auto& row : locked) {
    base::Uuid org_id;
    std::string hash;
    Columns(row).Into("org_id"_a = &org_id, "hash"_a = BytesInto{&hash});
    contents.Add(org_id, Bytea(hash));
  }
  if (!contents.empty()) tx.Exec<"snapshot_contents_forget">(contents);
}

}  // namespace

std::vector<Snapshot> ListSnapshots(Session& session, const base::Uuid& row_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<Snapshot> snapshots;
    const std::int64_t before = before_tick_id.value_or(std::numeric_limits<std::int64_t>::max());
    for (const auto& row : tx.Exec<"snapshot_list">("row_id"_a = row_id,
                           "before_tick_id"_a = before, "limit"_a = limit)) {
      Snapshot& s = snapshots.emplace_back();
      Columns(row).Into("id"_a = &s.id, "tick_id"_a = &s.tick_id, "previous_id"_a = &s.previous_id,
                        "url"_a = &s.url, "is_rendered"_a = &s.is_rendered,
                        "text_bytes"_a = &s.text_bytes, "has_picture"_a = &s.has_picture,
                        "created_at"_a = &s.created_at);
    }
    return snapshots;
  });
}

std::optional<std::string> ReadSnapshot(Session& session, const Scope& scope, const base::Uuid& id,
                                        SnapshotPart part) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<std::string> {
    const auto found = part == SnapshotPart::kText
                           ? tx.Exec<"snapshot_text">("id"_a = id, "org_id"_a = scope.org_id,
                                                      "team_id"_a = scope.team_id)
                           : tx.Exec<"snapshot_picture">("id"_a = id, "org_id"_a = scope.org_id,
                                                         "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    std::string body;
    Columns(found[0]).Into("body"_a = BytesInto{&body});
    return body;
  });
}

void ForgetSnapshots(Session& session, const base::Uuid& row_id) {
  InTransaction(session, [&](Transaction& tx) {
    ForgetContents(tx, tx.Exec<"snapshots_of_row_forget">("row_id"_a = row_id));
    tx.Exec<"failed_page_forget">("row_id"_a = row_id);
  });
}

void ForgetSnapshots(Session& session, const std::vector<base::Uuid>& ids) {
  InTransaction(session, [&](Transaction& tx) {
    ForgetContents(tx, tx.Exec<"snapshots_forget">("ids"_a = ids));
  });
}

}  // namespace vedette::store
