#include "store/search/field_values.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "domain/search/jsonpath_writer.h"
#include "store/search/field_values_sql.h"
#include "store/sql.h"

namespace vedette::store {
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

}  // namespace vedette::store
