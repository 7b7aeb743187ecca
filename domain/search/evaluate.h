#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "domain/search/filter.h"

// What filters and counts mean, said in memory: the rule that databases and search engines are held
// to. Pure; written for clearness, not for speed.
namespace vedette::domain::search {

// Whether the filter is true of the document.
bool Evaluate(const Filter& filter, const base::Json& document);

// The values of the field that a document has, each once. On the way to them a list stands for what
// is in it, and so it does at the end; a list within a list has no values.
std::vector<Value> ValuesOf(const Field& field, const base::Json& document);

struct ValueCount {
  std::string value;  // as TextOf has it
  std::int64_t count = 0;

  bool operator==(const ValueCount&) const = default;
};

// The top values of a field among the documents that are counted. Counts are documents.
struct TopValues {
  std::int64_t total = 0;          // documents
  std::int64_t missing = 0;        // of them without a value
  std::int64_t other = 0;          // sum of the counts of the values that are not listed
  std::vector<ValueCount> values;  // by count, the largest first, then by the value's bytes

  bool operator==(const TopValues&) const = default;
};
TopValues CountValues(const Field& field, const Filter& filter,
                      const std::vector<base::Json>& documents, std::size_t values_max);

}  // namespace vedette::domain::search
