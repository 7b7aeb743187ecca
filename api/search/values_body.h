#pragma once

#include <optional>
#include <variant>

#include "base/json.h"
#include "domain/search/exclusions.h"
#include "domain/search/fields.h"
#include "domain/search/filter_reader.h"
#include "rest/problems.h"
#include "store/search/field_values.h"

// The body of POST /search/filter-field-values. Pure.
namespace vedette::api {

struct ValuesBody {
  std::string field;
  domain::search::Mode mode = domain::search::Mode::kCompany;
  int top_k = 0;
  base::Json filters;         // an object, or null
  base::Json simple_filters;  // as filters
  domain::search::Exclusions exclusions;
  bool has_cursor = false;  // of an answer that has no next page
};

// What is wrong with its form becomes a problem.
ValuesBody ReadValuesBody(const base::Json& members, rest::Problems* problems);

// The question that the body asks, of no organisation yet: with both filters a document meets both.
// What it excludes is judged, and in it, but for saved lists. Its field and filter point into
// `fields`.
std::variant<store::ValuesQuestion, domain::search::FilterError> MakeValuesQuestion(
    const ValuesBody& body, const domain::search::Fields& fields);

}  // namespace vedette::api
