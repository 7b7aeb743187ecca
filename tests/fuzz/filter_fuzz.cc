// Whatever a tenant sends as a filter, of either grammar, it is refused with a known code and a
// short sentence, or becomes a tree that every printer and the evaluator take, in bounded time.
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"
#include "domain/search/jsonpath_writer.h"
#include "domain/search/opensearch.h"
#include "tests/fuzz/target.h"

namespace vedette::domain::search {
namespace {

const Catalogue& FewFields() {
  static const Catalogue kCatalogue(R"({"people": {}, "company": {
    "tag": {"type": "keyword"}, "title": {"type": "text", "aggregation_field": "title.keyword"},
    "note": {"type": "text"}, "size": {"type": "long"}, "score": {"type": "double"},
    "open": {"type": "boolean"}, "since": {"type": "date"},
    "jobs.name": {"type": "text", "nested_path": "jobs", "aggregation_field": "jobs.name.keyword"},
    "jobs.months": {"type": "long", "nested_path": "jobs"}}})");
  return kCatalogue;
}

const base::Json& OneDocument() {
  static const base::Json kDocument = base::ParseJsonOrThrow(
      R"({"tag": ["a", null], "title": "Deep blue", "size": 5, "open": true, "since": "2024",
          "jobs": [{"name": "x", "months": 3}, "no"]})");
  return kDocument;
}

void Validate(const FilterRead& read) {
  if (const auto* error = std::get_if<FilterError>(&read)) {
    const bool is_known = error->code == "unsupported_clause" ||
                          error->code == "filter_too_large" || error->code == "unknown_field" ||
                          error->code == "invalid_filter" || error->code == "field_has_no_values";
    if (!is_known || error->message.empty()) std::abort();
    return;
  }
  const auto& filter = std::get<Filter>(read);
  Evaluate(filter, OneDocument());
  if (!FilterJsonPath(filter).starts_with("$ ? (")) std::abort();
  if (FilterClause(filter).size() != 1) std::abort();
}

}  // namespace

FUZZ_TARGET(filter, bytes) {
  base::Json json;
  const std::string text(bytes);
  if (base::ParseJson(text, &json, {.values_max = 65'536})) return;
  const Fields& fields = FewFields().of(Mode::kCompany);
  Validate(ReadDslFilter(json, fields));
  Validate(ReadSimpleFilter(json, fields));
}

}  // namespace vedette::domain::search
