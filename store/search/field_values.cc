#include "store/search/field_values.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/json.h"
#include "domain/search/filter.h"
#include "domain/search/jsonpath_writer.h"
#include "store/audit.h"
#include "store/sql.h"

// Internal to store/search: what the counting statements give.
namespace vedette::store {

// What search_settings takes for whether the transaction only reads. A count does: whatever its
// filter is, nothing can be written by it.
inline constexpr const char* kOnlyReads = "on";
inline constexpr const char* kWrites = "off";

struct CountedValues {
  domain::search::TopValues top;
  std::int64_t counted = 0;  // sum of the counts of all values, listed or not
};

// Reads search_top_values and search_import_values.
CountedValues ReadCounted(const pqxx::result& result);

namespace {

using domain::search::TopValues;

constexpr const char* kStatementTimedOut = "57014";  // SQLSTATE

}  // namespace

CountedValues ReadCounted(const pqxx::result& result) {
  CountedValues read;
  for (const auto& row : result) {
    std::optional<std::string> value;
    std::optional<std::int64_t> count;
    Columns(row).Into("total"_a = &read.top.total, "missing"_a = &read.top.missing,
                      "counted"_a = &read.counted, "value"_a = &value, "documents"_a = &count);
    if (value) read.top.values.push_back({std::move(*value), *count});
  }
  read.top.other = read.counted;
  for (const auto& value : read.top.values) read.top.other -= value.count;
  return read;
}

std::optional<TopValues> ReadImportedValues(Session& session, const domain::search::Fields& fields,
                                            const ValuesQuestion& question) {
  const bool is_unscoped = std::holds_alternative<domain::search::Everything>(question.filter.is) &&
                           question.excluded_ids.empty() && question.values_max <= kTopValuesMax;
  if (!is_unscoped) return std::nullopt;
  const auto result = Read(session, [&](Transaction& tx) {
    return tx.Exec<"search_top_read">("mode"_a = question.mode, "org_id"_a = question.org_id,
                                      "name"_a = question.field->name, "hash"_a = fields.hash());
  });
  if (result.empty()) return std::nullopt;
  TopValues top;
  std::string stored;
  Columns(result.at(0))
      .Into("total"_a = &top.total, "missing"_a = &top.missing, "counted"_a = &top.other,
            "top"_a = &stored);
  for (const base::Json& pair : base::ParseJsonOrThrow(stored)) {
    if (top.values.size() == static_cast<std::size_t>(question.values_max)) break;
    top.values.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::int64_t>()});
    top.other -= top.values.back().count;
  }
  return top;
}

TopValues CountFieldValues(Session& session, const ValuesQuestion& question,
                           std::chrono::milliseconds timeout) {
  return InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"search_settings">("timeout_ms"_a = std::to_string(timeout.count()),
                               "only_reads"_a = kOnlyReads);
    try {
      if (!question.field->has_values()) {
        TopValues top;
        Columns(tx.Exec<"search_scope_count">(
                      "mode"_a = question.mode, "org_id"_a = question.org_id,
                      "filter"_a = domain::search::FilterJsonPath(question.filter),
                      "field"_a = domain::search::ValuesJsonPath(*question.field),
                      "excluded_ids"_a = question.excluded_ids)
                    .at(0))
            .Into("total"_a = &top.total, "missing"_a = &top.missing);
        return top;
      }
      return ReadCounted(tx.Exec<"search_top_values">(
                             "values_max"_a = question.values_max,
                             "type"_a = domain::search::IsNumber(question.field->type),
                             "mode"_a = question.mode, "org_id"_a = question.org_id,
                             "filter"_a = domain::search::FilterJsonPath(question.filter),
                             "field"_a = domain::search::ValuesJsonPath(*question.field),
                             "excluded_ids"_a = question.excluded_ids))
          .top;
    } catch (const pqxx::sql_error& error) {
      if (error.sqlstate() == kStatementTimedOut) throw SearchTimedOut(error.what());
      throw;
    }
  });
}

namespace {

using domain::search::Field;
using domain::search::Fields;
using domain::search::ImportState;

// Counting one field of a large import reads all of its documents.
constexpr std::chrono::milliseconds kCountTimeout = std::chrono::minutes(10);

struct Locked {
  domain::search::Mode mode = domain::search::Mode::kPeople;
  std::optional<base::Uuid> org_id;
  ImportProgress progress;
};

std::optional<Locked> LockImport(Transaction& tx, const base::Uuid& import_id) {
  const auto result = tx.Exec<"search_import_lock">("import_id"_a = import_id);
  if (result.empty()) return std::nullopt;
  Locked locked;
  Columns(result.at(0))
      .Into("mode"_a = &locked.mode, "org_id"_a = &locked.org_id,
            "state"_a = &locked.progress.state, "lines"_a = &locked.progress.lines);
  return locked;
}

void PutDocuments(Transaction& tx, const base::Uuid& import_id,
                  const std::vector<domain::search::Document>& documents) {
  std::map<std::string_view, std::string_view> last;  // of each id, in its order
  for (const auto& document : documents) last[document.id] = document.json;
  Rows<Column<"id", std::string>, Column<"doc", std::string>> rows;
  for (const auto& [id, json] : last) rows.Add(std::string(id), std::string(json));
  if (!rows.empty()) tx.Exec<"search_entity_put">("import_id"_a = import_id, rows);
}

// The fields that have values and are not counted yet.
std::vector<const Field*> Uncounted(Session& session, const base::Uuid& import_id,
                                    const Fields& fields) {
  const auto done = Read(session, [&](Transaction& tx) {
    return ReadEach<std::string>(
        tx.Exec<"search_top_fields">("import_id"_a = import_id, "hash"_a = fields.hash()));
  });
  std::vector<const Field*> left;
  for (const Field& field : fields.all()) {
    const bool is_done = std::find(done.begin(), done.end(), field.name) != done.end();
    if (field.has_values() && !is_done) left.push_back(&field);
  }
  return left;
}

void CountField(Session& session, const base::Uuid& import_id, const Fields& fields,
                const Field& field) {
  RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
    tx.Exec<"search_settings">("timeout_ms"_a = std::to_string(kCountTimeout.count()),
                               "only_reads"_a = kWrites);
    const CountedValues counted = ReadCounted(tx.Exec<"search_import_values">(
        "values_max"_a = kTopValuesMax, "type"_a = domain::search::IsNumber(field.type),
        "import_id"_a = import_id, "field"_a = domain::search::ValuesJsonPath(field)));
    base::Json top = base::Json::array();
    for (const auto& value : counted.top.values) {
      top.push_back(base::Json::array({value.value, value.count}));
    }
    tx.Exec<"search_top_put">("import_id"_a = import_id, "field"_a = field.name,
                              "fields_hash"_a = fields.hash(), "total"_a = counted.top.total,
                              "missing"_a = counted.top.missing, "counted"_a = counted.counted,
                              "top"_a = base::DumpJson(top));
  });
}

ImportProgress Switch(Session& session, const base::Clock& clock, const base::Uuid& import_id,
                      const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"search_settings">("timeout_ms"_a = std::to_string(kCountTimeout.count()),
                               "only_reads"_a = kWrites);
    ImportProgress progress = LockImport(tx, import_id).value().progress;
    if (progress.state == ImportState::kCounting) {
      tx.Exec<"search_import_turn">("import_id"_a = import_id);
      tx.Exec<"search_import_replace">("import_id"_a = import_id);
      tx.Exec<"search_import_switch">("import_id"_a = import_id);
      progress.state = ImportState::kCurrent;
      InsertAudit(tx, clock, audit);
    }
    progress.documents = ReadOne<std::optional<std::int64_t>>(
        tx.Exec<"search_import_documents">("import_id"_a = import_id));
    return progress;
  });
}

}  // namespace

ImportOutcome TakeDocuments(Session& session, const ImportTarget& target, std::int64_t first_line,
                            std::int64_t lines, std::vector<domain::search::Document> documents) {
  return InTransaction(session, [&](Transaction& tx) -> ImportOutcome {
    if (target.org_id && tx.Exec<"org_exists">("org_id"_a = *target.org_id).empty())
      return ImportOrgNotFound{};
    tx.Exec<"search_import_open">("id"_a = target.import_id, "mode"_a = target.mode,
                                  "org_id"_a = target.org_id);
    Locked locked = LockImport(tx, target.import_id).value();
    if (locked.mode != target.mode || locked.org_id != target.org_id) return ImportOfAnother{};
    const bool is_next =
        locked.progress.state == ImportState::kReceiving && locked.progress.lines == first_line;
    if (is_next && lines > 0) {
      PutDocuments(tx, target.import_id, documents);
      locked.progress.lines = ReadOne<std::int64_t>(
          tx.Exec<"search_import_add">("import_id"_a = target.import_id, "lines"_a = lines));
    }
    return locked.progress;
  });
}

ImportProgress FinishImport(Session& session, const base::Clock& clock, const ImportTarget& target,
                            const Fields& fields, std::chrono::milliseconds time,
                            const AuditEntry& audit) {
  const auto until = clock.SinceBoot() + time;
  ImportProgress progress = InTransaction(session, [&](Transaction& tx) {
    ImportProgress now = LockImport(tx, target.import_id).value().progress;
    if (now.state == ImportState::kReceiving) {
      tx.Exec<"search_import_set">("import_id"_a = target.import_id,
                                   "state"_a = ImportState::kCounting);
      now.state = ImportState::kCounting;
    }
    return now;
  });
  if (progress.state != ImportState::kCounting) {
    return Switch(session, clock, target.import_id, audit);
  }
  for (const Field* field : Uncounted(session, target.import_id, fields)) {
    if (clock.SinceBoot() >= until) return progress;
    CountField(session, target.import_id, fields, *field);
  }
  return Switch(session, clock, target.import_id, audit);
}

}  // namespace vedette::store
