#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "domain/search/evaluate.h"
#include "domain/search/fields.h"

// What OpenSearch, or Elasticsearch 7 and later, answers to TopValuesBody (dsl_writer.h). Pure.
namespace vedette::domain::search {

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
