#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "domain/search/filter.h"

// The reading of a filter that a client sent into the tree. Pure.
namespace vedette::domain::search {

// How large one filter may be. A filter over a limit is refused, and names it.
inline constexpr int kFilterDepthMax = 16;             // clauses within each other
inline constexpr int kFilterClausesMax = 256;          // clauses in all
inline constexpr std::size_t kFilterValuesMax = 1024;  // of one list of values
inline constexpr std::size_t kFilterCharsMax = 1024;   // of one string
// The largest number that a double, and with it every number of JSON, holds exactly.
inline constexpr double kExactNumberMax = 9007199254740991.0;

// Why a filter is refused. The codes are those of a 400: unsupported_clause, filter_too_large,
// unknown_field, field_has_no_values, invalid_filter. The message names the place in the filter.
struct FilterError {
  std::string code;
  std::string message;
};
using FilterRead = std::variant<Filter, FilterError>;

// A filter in the query language of OpenSearch and Elasticsearch: {"query": clause} or a clause.
// `fields` must outlive the filter. {} is no condition.
FilterRead ReadDslFilter(const base::Json& filters, const Fields& fields);

// A filter in the language of document stores: {"field": value or {"$gt": ..}, "$or": [..]}.
FilterRead ReadSimpleFilter(const base::Json& filters, const Fields& fields);

// Why there is no such field: unknown_field, with the names that look like it.
FilterError UnknownField(std::string_view name, const Fields& fields);

// What both readers are made of: limits, fields, values and leaves. The first error is kept, and
// what is read after it is of no use, so that a caller looks at the error once, at the end.
class FilterHelpers {
 public:
  explicit FilterHelpers(const Fields& fields) : fields_(fields) {}

  // The end of a reader.
  FilterRead Take(Filter filter);
  bool failed() const { return error_.has_value(); }
  // Keeps the error and gives a filter that stands in for the one that cannot be read.
  Filter Fail(std::string_view code, std::string message);
  Filter Unsupported(std::string_view what, std::string_view where);

  // Counts one clause, for as long as the object lives one level deeper. Not ok: over a limit.
  class Clause {
   public:
    Clause(FilterHelpers* kit, std::string_view where);
    ~Clause() { --kit_->depth_; }
    Clause(const Clause&) = delete;
    Clause& operator=(const Clause&) = delete;
    bool ok() const { return !kit_->failed(); }

   private:
    FilterHelpers* const kit_;
  };

  // The path of the objects that are being filtered; empty for documents.
  const std::string& nested_path() const { return nested_path_; }
  // What `read` gives where fields are those of the objects at `path`, as a Nested.
  template <typename Read>
  Filter Within(const std::string& path, std::string_view where, Read read) {
    if (!EnterNested(path, where)) return {};
    Nested nested{path, {}};
    nested.parts.push_back(read());
    nested_path_.clear();
    return {std::move(nested)};
  }

  // A field of what is being filtered; null after an error.
  const Field* FieldAt(std::string_view name, std::string_view where);

  // Leaves. Each gives a filter that may be used where it stands: one of a nested field is inside
  // its Nested.
  Filter Equal(const Field& field, const base::Json& value, std::string_view where);
  Filter AnyOf(const Field& field, const base::Json& values, std::string_view where);
  // `comparison`: gt, gte, lt or lte.
  void AddBound(std::string_view comparison, const base::Json& value, std::string_view where,
                Range* range);
  Filter InRange(Range range, std::string_view where);
  Filter WithValue(const Field& field);
  Filter BeginsWith(const Field& field, const base::Json& value, std::string_view where);
  // One of the words, or with `every` all of them.
  Filter HasWords(const Field& field, const base::Json& value, bool every, std::string_view where);
  Filter HasPhrase(const Field& field, const base::Json& value, std::string_view where);

  const Fields& fields() const { return fields_; }

 private:
  bool EnterNested(const std::string& path, std::string_view where);
  bool NeedsValues(const Field& field, std::string_view where);
  std::optional<Value> ReadValue(const Field& field, const base::Json& value,
                                 std::string_view where);
  std::optional<std::string> ReadText(const base::Json& value, std::string_view where);
  // Puts a leaf of a nested field inside its Nested, unless it stands there.
  Filter Placed(const Field& field, Filter leaf);

  const Fields& fields_;
  std::optional<FilterError> error_;
  int depth_ = 0;
  int clauses_ = 0;
  std::string nested_path_;
};

inline Filter NotAny(Filter filter) {
  None none;
  none.parts.push_back(std::move(filter));
  return {std::move(none)};
}

// `parts` as one filter: itself where there is one, and Everything where none of them says
// anything, since what is asked of all documents is answered from what their import has counted.
Filter AllOf(std::vector<Filter> parts);

}  // namespace vedette::domain::search
