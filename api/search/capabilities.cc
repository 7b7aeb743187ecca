// What filters may say, and of which fields.
#include <chrono>

#include "api/handlers.h"
#include "base/json_or_null.h"
#include "domain/search/filter_reader.h"
#include "rest/query_reader.h"

namespace vedette::api {
namespace {

namespace search = domain::search;

constexpr const char* kSimpleOperators[] = {
    "$eq",    "$ne",     "$gt",  "$gte", "$lt",  "$lte", "$in",        "$nin",   "$exists",
    "$match", "$phrase", "$and", "$or",  "$not", "$nor", "$elemMatch", "$search"};

base::Json FieldJson(const search::Field& field) {
  const bool has_order = field.has_values() && field.type != search::FieldType::kBoolean;
  return {{"field", field.name},
          {"field_type", search::FieldTypeName(field.type)},
          {"nested_path", base::OrNull(field.nested_path)},
          {"queryable", true},
          {"sortable", false},
          {"rangeable", has_order},
          {"sort_field", nullptr},
          {"aggregation_field", base::OrNull(field.aggregation_field)},
          {"value_type", search::FieldTypeName(field.value_type())},
          {"supports_top_values", field.has_values()},
          {"supports_exact_filter_snippet", field.has_values()},
          {"related_fields", field.related},
          {"preferred_for_exact_match", field.preferred}};
}

}  // namespace

rest::Handled ShowFilterCapabilities(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const auto given =
      query.Text("mode").value_or(std::string(search::ModeName(search::Mode::kCompany)));
  const auto mode = search::ParseMode(given);
  if (!mode) query.Refuse("mode", "enum", "Input should be 'people' or 'company'");
  query.Boolean("refresh", false);  // nothing is kept that could be read again
  query.Finish();
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const search::Fields& fields = call.parts.search.fields.of(*mode);
  base::Json listed = base::Json::array();
  for (const search::Field& field : fields.all()) listed.push_back(FieldJson(field));
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      call.parts.clock.Now().time_since_epoch());
  return rest::JsonReply(200, {{"mode", search::ModeName(*mode)},
                               {"index_name", search::ModeName(*mode)},
                               {"fields", std::move(listed)},
                               {"nested_paths", fields.nested_paths()},
                               {"limits",
                                {{"max_query_depth", search::kFilterDepthMax},
                                 {"max_clause_count", search::kFilterClausesMax},
                                 {"max_terms_per_clause", search::kFilterValuesMax},
                                 {"max_sort_clauses", 0},
                                 {"max_string_length", search::kFilterCharsMax}}},
                               {"cache_ttl_seconds", 0},
                               {"generated_at_epoch_ms", now.count()},
                               {"mapping_hash", fields.hash()},
                               {"simple_query_operators", kSimpleOperators}});
}

}  // namespace vedette::api
