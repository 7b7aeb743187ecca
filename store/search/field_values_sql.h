#pragma once

#include "domain/search/evaluate.h"
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

// Of search_top_values and search_import_values.
CountedValues ReadCounted(const pqxx::result& result);

}  // namespace vedette::store
