#include "store/rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/control_sql.h"
#include "store/rows_sql.h"

namespace vedette::store {
namespace {

constexpr std::size_t kInsertRowsMax = 2000;
constexpr int kReadIdsMax = 20000;
constexpr std::size_t kFindKeysMax = 10000;

domain::Row ReadRow(const pqxx::row& r) {
  domain::Row row;
  row.id = ReadUuid(r["id"]);
  row.position = r["position"].as<int>();
  row.subject_json = r["subject"].c_str();
  row.context_json = ReadTextOrNull(r["context"]);
  row.baseline_json = r["baseline"].c_str();
  row.pending_json = ReadTextOrNull(r["pending"]);
  row.is_active = r["is_active"].as<bool>();
  row.disabled_reason = ReadTextOrNull(r["disabled_reason"]);
  row.last_run_at = ReadTimeOrNull(r["last_run_at"]);
  row.created_at = ReadTime(r["created_at"]);
  row.updated_at = ReadTime(r["updated_at"]);
  return row;
}

Page<domain::Row> ReadPage(const pqxx::result& result, int limit, std::size_t bytes_max) {
  Page<domain::Row> page;
  page.items.reserve(result.size());
  for (const auto& r : result) page.items.push_back(ReadRow(r));
  page.more = IsCutShort(result, limit, bytes_max);
  return page;
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
    for (std::size_t i = from; i < until; ++i) hashes.push_back(Bytea(rows[i].key_hash));
    const auto found = tx.Exec("row_find_keys", monitor_id, hashes);
    if (found.empty()) continue;
    const std::string hash = ReadBytea(found[0]["key_hash"]);
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const domain::RowValues& r) { return r.key_hash == hash; });
    return Duplicate{static_cast<std::size_t>(it - rows.begin()), found[0]["position"].as<int>()};
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

void InsertRows(Transaction& tx, const base::Uuid& monitor_id, const base::Uuid& org_id,
                const std::vector<domain::RowValues>& rows, const std::vector<base::Uuid>& ids,
                int first_position) {
  for (std::size_t from = 0; from < rows.size(); from += kInsertRowsMax) {
    const std::size_t until = std::min(rows.size(), from + kInsertRowsMax);
    std::vector<base::Uuid> batch_ids(ids.begin() + static_cast<std::ptrdiff_t>(from),
                                      ids.begin() + static_cast<std::ptrdiff_t>(until));
    std::vector<std::string> hashes;
    std::vector<std::string_view> subjects;
    std::vector<std::string_view> baselines;
    std::vector<std::optional<std::string_view>> contexts;
    for (std::size_t i = from; i < until; ++i) {
      hashes.push_back(Bytea(rows[i].key_hash));
      subjects.push_back(rows[i].subject_json);
      contexts.emplace_back(rows[i].context_json);
      baselines.push_back(rows[i].baseline_json);
    }
    const int position = first_position + static_cast<int>(from);
    tx.Exec("row_insert", monitor_id, position, org_id, batch_ids, hashes, subjects, contexts,
            baselines);
    tx.Exec("row_state_insert", monitor_id, position, first_position + static_cast<int>(until));
  }
}

std::vector<base::Uuid> ReadRowIds(Transaction& tx, const base::Uuid& monitor_id, int count) {
  std::vector<base::Uuid> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (int from = 0; from < count; from += kReadIdsMax) {
    const int until = std::min(count, from + kReadIdsMax);
    for (const auto& r : tx.Exec("row_ids", monitor_id, from, until)) ids.push_back(ReadUuid(r[0]));
  }
  return ids;
}

Page<domain::Row> ListRows(Session& session, const base::Uuid& monitor_id, int after_position,
                           int limit, std::size_t bytes_max) {
  return Read(session, [&](Transaction& tx) {
    return ReadPage(tx.Exec("row_list", monitor_id, after_position, limit, bytes_max), limit,
                    bytes_max);
  });
}

std::optional<domain::Row> GetRow(Session& session, const base::Uuid& monitor_id,
                                  const base::Uuid& row_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<domain::Row> {
    const auto found = tx.Exec("row_get", monitor_id, row_id);
    if (found.empty()) return std::nullopt;
    return ReadRow(found[0]);
  });
}

Page<domain::Row> ListStaleRows(Session& session, const base::Uuid& monitor_id,
                                std::chrono::seconds frequency, int after_position,
                                int last_position, int limit, std::size_t bytes_max) {
  return Read(session, [&](Transaction& tx) {
    return ReadPage(tx.Exec("row_list_stale", monitor_id, after_position, last_position,
                            frequency.count(), limit, bytes_max),
                    limit, bytes_max);
  });
}

AddRowsOutcome AddRows(Session& session, const base::Clock& clock, const MonitorScope& scope,
                       const base::Uuid& monitor_id, const std::vector<domain::RowValues>& rows,
                       std::int64_t rows_per_monitor_max) {
  const std::vector<base::Uuid> ids = NewRowIds(clock, rows.size());
  return InTransaction(session, [&](Transaction& tx) -> AddRowsOutcome {
    using Kind = AddRowsOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    const auto count = tx.Exec("row_counts", monitor_id)[0][0].as<std::int64_t>();
    if (count + static_cast<std::int64_t>(rows.size()) > rows_per_monitor_max) {
      return {.kind = Kind::kTooMany, .row_count = count};
    }
    if (const auto duplicate = FindDuplicate(tx, monitor_id, rows)) {
      return {.kind = Kind::kDuplicateKey,
              .duplicate_index = duplicate->index,
              .duplicate_position = duplicate->position};
    }
    InsertRows(tx, monitor_id, locked->org_id, rows, ids, static_cast<int>(count));
    tx.Exec("row_counts_add", monitor_id, rows.size());
    tx.Exec("monitor_touch", monitor_id);
    return {.status = locked->status, .row_ids = ids};
  });
}

ControlOutcome SwitchRow(Session& session, const MonitorScope& scope, const base::Uuid& monitor_id,
                         const base::Uuid& row_id, bool is_active,
                         const std::optional<std::string>& disabled_reason) {
  return InTransaction(session, [&](Transaction& tx) -> ControlOutcome {
    using Kind = ControlOutcome::Kind;
    const auto locked = LockMonitor(tx, scope, monitor_id);
    if (!locked) return {.kind = Kind::kNotFound};
    if (!TakesRows(locked->status)) return {.kind = Kind::kConflict, .status = locked->status};
    const auto switched = tx.Exec("row_switch", monitor_id, row_id, is_active,
                                  is_active ? std::nullopt : disabled_reason);
    if (switched.empty()) return {.kind = Kind::kNotFound};
    const int moved = switched[0]["moved"].as<int>();
    if (moved != 0) tx.Exec("row_switch_count", monitor_id, moved);
    return {.status = locked->status};
  });
}

}  // namespace vedette::store
