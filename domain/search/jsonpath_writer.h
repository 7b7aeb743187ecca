#pragma once

#include <string>

#include "domain/search/filter.h"

// Filters and fields for PostgreSQL, as the text of one parameter of type jsonpath each. Paths come
// from the catalogue, and every value is written as a literal of JSON, so that nothing a tenant
// sends is ever SQL, or more than a value within the path. Pure.
namespace vedette::domain::search {

// `doc @? path` is true of exactly the documents that the filter is true of (filter.h). A GIN
// index with jsonb_path_ops serves OneOf, and what it is joined with by And and Or.
std::string FilterJsonPath(const Filter& filter);

// jsonb_path_query(doc, path) gives the values of the field, as often as the document has them.
std::string ValuesJsonPath(const Field& field);

}  // namespace vedette::domain::search
