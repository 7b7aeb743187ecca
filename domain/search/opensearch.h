#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "domain/search/fields.h"
#include "domain/search/filter.h"

// Bodies of requests to OpenSearch, and to Elasticsearch 7 and later. Pure.
namespace vedette::domain::search {

// The clause that selects the documents of the filter. Whole values are asked for by the field's
// aggregation name, words by its own. A text's words are looked for as the index's analyser has
// them, which may be other words than WordsOf gives.
base::Json FilterClause(const Filter& filter);

// The organisation whose documents are searched: those without an organisation, and its own.
struct Tenant {
  std::string field;  // the name of the documents' field with the organisation's id
  std::string org_id;
};

// The body of a _search that counts the top `values_max` values of a field within `scope`. The
// tenant is a condition of its own beside the filter, never in it. Counts are documents: those of a
// nested field are counted through reverse_nested; a field without whole values has no aggregation
// "values". Documents with the ids `excluded_ids`, which are those of the index, are left out.
//
//   aggregations: "values" (terms; inside "objects" for a nested field, each with "documents"),
//   "missing" (documents without a value)
base::Json TopValuesBody(const Field& field, const Filter& scope,
                         const std::optional<Tenant>& tenant, int values_max,
                         const std::vector<std::string>& excluded_ids = {});

// What OpenSearch, or Elasticsearch 7 and later, answers to TopValuesBody. Pure.

struct EngineCount {
  TopValues top;
  // Some counts may be too small: shards kept back values that could have been among the top ones,
  // or what lies beyond the listed values of a nested field was counted in objects.
  bool approximate = false;
};

// Why an answer gives no counts.
struct EngineProblem {
  enum class Kind { kTimedOut, kUnusable };
  Kind kind = Kind::kUnusable;
  std::string why;  // a sentence for the operator's log
};

// The answer of a _search with the status 200. Where a shard failed, or the total is a lower bound,
// nothing is taken: the counts would be wrong without saying so. `values_max` is what was asked
// for. Equal counts are ordered by the value's bytes, as everywhere; which of them are listed where
// there is no room for all is the engine's choice.
std::variant<EngineCount, EngineProblem> ReadEngineAnswer(std::string_view body, const Field& field,
                                                          int values_max);

}  // namespace vedette::domain::search
