#include "store/monitors/uploads.h"

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/row_values.h"
#include "domain/text/csv.h"
#include "store/audit.h"
#include "store/monitors/control.h"
#include "store/monitors/rows.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// An organisation's files that no monitor was made from.
struct Unused {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

Unused ReadUnused(Transaction& tx, const base::Uuid& org_id) {
  Unused unused;
  Columns(tx.Exec<"upload_unused">("org_id"_a = org_id).at(0))
      .Into("files"_a = &unused.files, "bytes"_a = &unused.bytes);
  return unused;
}

}  // namespace

std::optional<base::Uuid> BeginUpload(Session& session, const base::Clock& clock,
                                      const base::Uuid& org_id, const UploadLimits& limits) {
  const base::Uuid id = base::Uuid::V7(clock);
  return InTransaction(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const Unused unused = ReadUnused(tx, org_id);
    if (unused.files >= limits.unused_max || unused.bytes >= limits.unused_bytes_max) {
      return std::nullopt;
    }
    tx.Exec<"upload_insert">("id"_a = id, "org_id"_a = org_id, "kept_h"_a = limits.kept.count());
    return id;
  });
}

std::int64_t AddUploadPart(Session& session, const base::Uuid& upload_id, const UploadPart& part) {
  return InTransaction(
      session,
      [&](Transaction& tx) -> std::int64_t {
        tx.Exec<"upload_part_insert">("upload_id"_a = upload_id, "part"_a = part.part,
                                      "first_line"_a = part.first_line,
                                      "row_count"_a = part.row_count, "text"_a = part.text);
        const auto org_id = ReadFirst<base::Uuid>(
            tx.Exec<"upload_grow">("upload_id"_a = upload_id, "size"_a = part.text.size()));
        return org_id ? ReadUnused(tx, *org_id).bytes : 0;
      },
      Durability::kAsync);
}

std::optional<base::Timestamp> FinishUpload(Session& session, const base::Uuid& upload_id,
                                            const std::vector<std::string>& columns,
                                            std::int64_t row_count, int part_count,
                                            const base::Clock& clock, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto org_id = ReadFirst<base::Uuid>(tx.Exec<"upload_org">("upload_id"_a = upload_id));
    if (!org_id || !HoldHere(tx, *org_id)) return std::optional<base::Timestamp>();
    const auto expires_at = ReadFirst<base::Timestamp>(
        tx.Exec<"upload_finish">("upload_id"_a = upload_id, "columns"_a = columns,
                                 "row_count"_a = row_count, "part_count"_a = part_count));
    if (expires_at) InsertAudit(tx, clock, audit);
    return expires_at;
  });
}

void DeleteUpload(Session& session, const base::Uuid& upload_id) {
  InTransaction(session,
                [&](Transaction& tx) { tx.Exec<"upload_delete">("upload_id"_a = upload_id); });
}

std::optional<Upload> FindUpload(Session& session, const base::Uuid& org_id,
                                 const base::Uuid& upload_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<Upload> {
    const auto found = tx.Exec<"upload_get">("upload_id"_a = upload_id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    Upload upload;
    Columns(found.at(0))
        .Into("columns"_a = &upload.columns, "row_count"_a = &upload.row_count,
              "expires_at"_a = &upload.expires_at);
    return upload;
  });
}

namespace {

using domain::MonitorStatus;

// Records were validated when they were received.
constexpr std::size_t kRecordBytesMax = std::size_t{1} << 30;
constexpr std::size_t kFailureKeyBytesMax = 200;
// The tries of one part; with the waits between them (import_failed) about four minutes.
constexpr int kPartTriesMax = 10;

struct PartRows {
  std::vector<domain::RowValues> rows;
  std::vector<std::int64_t> lines;  // of each row
  std::optional<std::string> failure;
};

// What a failure says of the row: its key values, cut.
std::string KeyText(const domain::RowValues& row) {
  if (row.subject_json.size() <= kFailureKeyBytesMax) return row.subject_json;
  return std::string(base::CutBytes(row.subject_json, kFailureKeyBytesMax)) + "...";
}

// A blank cell is no value and is left out.
base::Json RowOf(const std::vector<std::string>& columns, std::vector<std::string>& fields) {
  base::Json row = base::Json::object();
  for (std::size_t i = 0; i < fields.size() && i < columns.size(); ++i) {
    base::Json value(std::move(fields[i]));
    if (domain::NormaliseValue(value)) row[columns[i]] = std::move(value);
  }
  return row;
}

PartRows ReadPart(std::int64_t first_line, std::string_view text,
                  const std::vector<std::string>& columns, const domain::ColumnRoles& roles) {
  PartRows part;
  std::map<std::string, std::int64_t> line_by_key;
  const auto take = [&](domain::CsvRecord& record) -> std::optional<domain::CsvProblem> {
    domain::RowValues row = domain::SplitRow(RowOf(columns, record.fields), roles);
    if (!row.has_key)
      return domain::CsvProblem{record.line, "the row has no value in any key column"};
    const auto [it, is_new] = line_by_key.try_emplace(row.key_hash, record.line);
    if (!is_new) {
      return domain::CsvProblem{
          record.line,
          fmt::format("the row has the same key values as line {}: {}", it->second, KeyText(row))};
    }
    part.rows.push_back(std::move(row));
    part.lines.push_back(record.line);
    return std::nullopt;
  };
  domain::CsvReader reader(first_line, kRecordBytesMax);
  auto problem = reader.Feed(text, take);
  if (!problem) problem = reader.Finish(take);
  if (problem) part.failure = fmt::format("line {}: {}", problem->line, problem->message);
  return part;
}

domain::ColumnRoles ReadRoles(Transaction& tx, const base::Uuid& monitor_id) {
  const auto definition = tx.Exec<"import_definition">("monitor_id"_a = monitor_id);
  domain::ColumnRoles roles;
  std::string struct_json;
  Columns(definition.at(0)).Into("key_columns"_a = &roles.key_columns, "struct"_a = &struct_json);
  const base::Json watched = base::ParseJsonOrThrow(struct_json);
  for (const auto& [name, description] : watched.items()) roles.watched.insert(name);
  return roles;
}

// The sentence that says that a row of the part has the key of one added before, where one has.
std::optional<std::string> FindKnownKey(Transaction& tx, const base::Uuid& monitor_id,
                                        const PartRows& part) {
  std::vector<std::string> hashes;
  for (const domain::RowValues& row : part.rows) hashes.push_back(row.key_hash);
  const auto known = FindKnownRow(tx, monitor_id, hashes);
  if (!known) return std::nullopt;
  return fmt::format("line {}: the row has the same key values as row {}: {}",
                     part.lines[known->index], known->position + 1,
                     KeyText(part.rows[known->index]));
}

ImportStep Fail(Transaction& tx, const base::Uuid& monitor_id, const std::string& reason) {
  SetMonitorStatus(tx, monitor_id, MonitorStatus::kFailed, reason);
  tx.Exec<"import_delete">("monitor_id"_a = monitor_id);
  return ImportStep::kFailed;
}

ImportStep Activate(Transaction& tx, const base::Uuid& monitor_id) {
  SetMonitorStatus(tx, monitor_id, MonitorStatus::kActive, std::nullopt);
  tx.Exec<"import_start_schedule">("monitor_id"_a = monitor_id);
  tx.Exec<"import_delete">("monitor_id"_a = monitor_id);
  return ImportStep::kActivated;
}

// A row of import_part. Empty where the file is gone.
struct StoredPart {
  std::int64_t first_line = 0;
  std::string text;
};
std::optional<StoredPart> ReadStoredPart(Transaction& tx, const base::Uuid& upload_id, int part) {
  const auto found = tx.Exec<"import_part">("upload_id"_a = upload_id, "part"_a = part);
  if (found.empty()) return std::nullopt;
  StoredPart stored;
  Columns(found.at(0)).Into("first_line"_a = &stored.first_line, "text"_a = &stored.text);
  return stored;
}

// `part_number`: which one it is about to add.
ImportStep AddPart(Transaction& tx, const base::Clock& clock, const base::Uuid& monitor_id,
                   std::optional<int>* part_number) {
  const auto monitor = LockMonitor(tx, Scope{}, monitor_id);
  const auto locked = tx.Exec<"import_lock">("monitor_id"_a = monitor_id);
  if (!monitor || locked.empty()) return ImportStep::kAdded;  // somebody else finished it
  base::Uuid upload_id;
  int next_part = 0;
  std::vector<std::string> columns;
  int part_count = 0;
  Columns(locked.at(0))
      .Into("upload_id"_a = &upload_id, "next_part"_a = &next_part, "columns"_a = &columns,
            "part_count"_a = &part_count);
  *part_number = next_part;
  const auto stored = ReadStoredPart(tx, upload_id, next_part);
  if (!stored) return Fail(tx, monitor_id, "the uploaded file is gone");
  PartRows part = ReadPart(stored->first_line, stored->text, columns, ReadRoles(tx, monitor_id));
  if (!part.failure) part.failure = FindKnownKey(tx, monitor_id, part);
  if (part.failure) return Fail(tx, monitor_id, *part.failure);
  const int first = ReadOne<int>(tx.Exec<"row_counts">("monitor_id"_a = monitor_id));
  InsertRows(tx, monitor_id, monitor->org_id, part.rows, NewRowIds(clock, part.rows.size()), first);
  tx.Exec<"row_counts_add">("monitor_id"_a = monitor_id, "added"_a = part.rows.size());
  if (next_part + 1 == part_count) return Activate(tx, monitor_id);
  tx.Exec<"import_advance">("monitor_id"_a = monitor_id);
  return ImportStep::kAdded;
}

// Counts that adding the part has failed, whatever the reason. True where that was the last try:
// the monitor is `failed`.
bool NoteFailure(Session& session, const base::Uuid& monitor_id, int part_number) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!LockMonitor(tx, Scope{}, monitor_id)) return false;
    const auto failed =
        tx.Exec<"import_failed">("monitor_id"_a = monitor_id, "part_number"_a = part_number);
    if (failed.empty()) return false;
    int failures = 0;
    base::Uuid upload_id;
    Columns(failed.at(0)).Into("failures"_a = &failures, "upload_id"_a = &upload_id);
    if (failures < kPartTriesMax) return false;
    const auto part = ReadStoredPart(tx, upload_id, part_number);
    Fail(tx, monitor_id,
         fmt::format("the rows from line {} on could not be added, in {} tries; make the monitor "
                     "again later",
                     part ? part->first_line : 0, kPartTriesMax));
    return true;
  });
}

// False, too, where the database is gone: the failure is the database's then.
bool TryNoteFailure(Session& session, const base::Uuid& monitor_id, int part_number) {
  try {
    return NoteFailure(session, monitor_id, part_number);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

ImportStep ImportBatch(Session& session, const base::Clock& clock) {
  // Taken in a transaction of its own: an import that cannot go on does not stand before the
  // others.
  const auto monitor_id = InTransaction(
      session,
      [](Transaction& tx) -> std::optional<base::Uuid> {
        return ReadFirst<base::Uuid>(tx.Exec<"import_take">());
      },
      Durability::kAsync);
  if (!monitor_id) return ImportStep::kNothing;
  std::optional<int> part;
  try {
    return InTransaction(session,
                         [&](Transaction& tx) { return AddPart(tx, clock, *monitor_id, &part); });
  } catch (const std::exception&) {
    if (part && TryNoteFailure(session, *monitor_id, *part)) return ImportStep::kFailed;
    throw;
  }
}

}  // namespace vedette::store
