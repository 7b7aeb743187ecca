#include "domain/search/filter_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace vedette::domain::search {
namespace {

// What belongs to a search, and not to the filter of a count.
constexpr std::array<std::string_view, 14> kOfSearches = {
    "sort", "size",  "from",   "aggs",  "aggregations", "_source", "highlight",
    "knn",  "$sort", "$limit", "$skip", "$project",     "$count",  "track_total_hits"};

constexpr std::size_t kShownCharsMax = 100;

std::string Shown(std::string_view text) {
  return "\"" + base::CutCharacters(text, kShownCharsMax) + "\"";
}

bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (shape[i] == '9' ? !base::IsAsciiDigit(text[i]) : text[i] != shape[i]) return false;
  }
  return true;
}

// 2024, 2024-05, 2024-05-31, 2024-05-31T09:30:00Z or with a fraction of the second.
bool IsDate(std::string_view text) {
  constexpr std::string_view kTime = "9999-99-99T99:99:99";
  if (HasShape(text, kTime.substr(0, 4)) || HasShape(text, kTime.substr(0, 7)) ||
      HasShape(text, kTime.substr(0, 10))) {
    return true;
  }
  if (!text.ends_with('Z') || !HasShape(text.substr(0, kTime.size()), kTime)) return false;
  std::string_view fraction = text.substr(kTime.size());
  fraction.remove_suffix(1);
  if (fraction.empty()) return true;
  if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 10) return false;
  for (const char c : fraction.substr(1)) {
    if (!base::IsAsciiDigit(c)) return false;
  }
  return true;
}

// What a value of the field has to be, for messages.
std::string_view Wanted(FieldType type) {
  switch (type) {
    case FieldType::kKeyword:
    case FieldType::kText:
      return "a string";
    case FieldType::kLong:
      return "an integer of at most 9007199254740991";
    case FieldType::kDouble:
      return "a finite number";
    case FieldType::kBoolean:
      return "true or false";
    case FieldType::kDate:
      return "a date such as \"2024-05-31\" or \"2024-05-31T09:30:00Z\"";
  }
  return "a value";
}

std::optional<double> NumberOf(FieldType type, const base::Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (!std::isfinite(number)) return std::nullopt;
  const bool exact = std::abs(number) <= kExactNumberMax;
  if (value.is_number_integer() && !exact) return std::nullopt;
  if (type == FieldType::kLong && !(exact && std::trunc(number) == number)) return std::nullopt;
  return number;
}

}  // namespace

FilterError UnknownField(std::string_view name, const Fields& fields) {
  const auto near = fields.Near(name);
  std::string message = fmt::format("there is no field {}", Shown(name));
  if (!near.empty()) message += fmt::format("; did you mean {}?", fmt::join(near, ", "));
  return {"unknown_field", std::move(message)};
}

Filter AllOf(std::vector<Filter> parts) {
  std::erase_if(parts,
                [](const Filter& part) { return std::holds_alternative<Everything>(part.is); });
  if (parts.empty()) return {};
  if (parts.size() == 1) return std::move(parts[0]);
  return {And{std::move(parts)}};
}

FilterRead FilterHelpers::Take(Filter filter) {
  if (error_) return std::move(*error_);
  return filter;
}

Filter FilterHelpers::Fail(std::string_view code, std::string message) {
  if (!error_) error_ = FilterError{std::string(code), std::move(message)};
  return {};
}

Filter FilterHelpers::Unsupported(std::string_view what, std::string_view where) {
  for (const std::string_view other : kOfSearches) {
    if (what != other) continue;
    return Fail("unsupported_clause", fmt::format("{}: {} belongs to a search, and this counts "
                                                  "values within a filter",
                                                  where, what));
  }
  return Fail("unsupported_clause", fmt::format("{}: {} is not supported", where, Shown(what)));
}

FilterHelpers::Clause::Clause(FilterHelpers* kit, std::string_view where) : kit_(kit) {
  ++kit_->depth_;
  ++kit_->clauses_;
  if (kit_->depth_ > kFilterDepthMax) {
    kit_->Fail("filter_too_large",
               fmt::format("{}: more than {} clauses within each other",
                           base::CutCharacters(where, kShownCharsMax), kFilterDepthMax));
  }
  if (kit_->clauses_ > kFilterClausesMax) {
    kit_->Fail("filter_too_large",
               fmt::format("{}: more than {} clauses", base::CutCharacters(where, kShownCharsMax),
                           kFilterClausesMax));
  }
}

bool FilterHelpers::EnterNested(const std::string& path, std::string_view where) {
  if (!nested_path_.empty()) {
    Fail("unsupported_clause", fmt::format("{}: a nested filter inside that of {} is not supported",
                                           where, nested_path_));
  } else if (!fields_.HasNestedPath(path)) {
    Fail("unknown_field", fmt::format("{}: {} is no nested path; those are: {}", where, Shown(path),
                                      fmt::join(fields_.nested_paths(), ", ")));
  } else {
    nested_path_ = path;
  }
  return !failed();
}

const Field* FilterHelpers::FieldAt(std::string_view name, std::string_view where) {
  const Field* field = fields_.Find(name);
  if (field == nullptr) {
    FilterError error = UnknownField(name, fields_);
    Fail(error.code, fmt::format("{}: {}", where, error.message));
  } else if (!nested_path_.empty() && field->nested_path != nested_path_) {
    Fail("invalid_filter",
         fmt::format("{}: {} is not a field of {}", where, field->name, nested_path_));
  }
  return failed() ? nullptr : field;
}

bool FilterHelpers::NeedsValues(const Field& field, std::string_view where) {
  if (!field.has_values()) {
    Fail("field_has_no_values",
         fmt::format("{}: {} is a text without exact values; it has words alone ($match, match)",
                     where, field.name));
  }
  return !failed();
}

std::optional<std::string> FilterHelpers::ReadText(const base::Json& value,
                                                   std::string_view where) {
  if (!value.is_string()) {
    Fail("invalid_filter", fmt::format("{}: the value has to be a string", where));
    return std::nullopt;
  }
  auto text = value.get<std::string>();
  if (base::CountCharacters(text) > kFilterCharsMax) {
    Fail("filter_too_large",
         fmt::format("{}: a string has more than {} characters", where, kFilterCharsMax));
    return std::nullopt;
  }
  return text;
}

std::optional<Value> FilterHelpers::ReadValue(const Field& field, const base::Json& value,
                                              std::string_view where) {
  std::optional<Value> read;
  if (IsText(field.type) && value.is_string()) {
    if (auto text = ReadText(value, where)) {
      if (field.type != FieldType::kDate || IsDate(*text)) read = std::move(*text);
    }
  } else if (IsNumber(field.type)) {
    if (const auto number = NumberOf(field.type, value)) read = *number;
  } else if (field.type == FieldType::kBoolean && value.is_boolean()) {
    read = value.get<bool>();
  }
  if (!read) {
    Fail("invalid_filter",
         fmt::format("{}: a value of {} is {}", where, field.name, Wanted(field.type)));
  }
  return read;
}

Filter FilterHelpers::Placed(const Field& field, Filter leaf) {
  if (field.nested_path == nested_path_) return leaf;
  Nested nested{field.nested_path, {}};
  nested.parts.push_back(std::move(leaf));
  return {std::move(nested)};
}

Filter FilterHelpers::Equal(const Field& field, const base::Json& value, std::string_view where) {
  if (!NeedsValues(field, where)) return {};
  auto read = ReadValue(field, value, where);
  if (!read) return {};
  return Placed(field, {OneOf{&field, {std::move(*read)}}});
}

Filter FilterHelpers::AnyOf(const Field& field, const base::Json& values, std::string_view where) {
  if (!NeedsValues(field, where)) return {};
  if (!values.is_array()) return Fail("invalid_filter", fmt::format("{}: give a list", where));
  if (values.size() > kFilterValuesMax) {
    return Fail("filter_too_large",
                fmt::format("{}: a list has more than {} values", where, kFilterValuesMax));
  }
  OneOf one{&field, {}};
  for (const base::Json& value : values) {
    auto read = ReadValue(field, value, where);
    if (!read) return {};
    one.values.push_back(std::move(*read));
  }
  if (one.values.empty()) return {Or{}};
  return Placed(field, {std::move(one)});
}

void FilterHelpers::AddBound(std::string_view comparison, const base::Json& value,
                             std::string_view where, Range* range) {
  const Field& field = *range->field;
  if (!NeedsValues(field, where)) return;
  if (field.type == FieldType::kBoolean) {
    Fail("invalid_filter", fmt::format("{}: {} has no order", where, field.name));
    return;
  }
  std::optional<Bound>& bound = comparison[0] == 'g' ? range->lower : range->upper;
  if (bound) {
    Fail("invalid_filter", fmt::format("{}: two bounds at the same end", where));
    return;
  }
  if (auto read = ReadValue(field, value, where)) {
    bound = Bound{std::move(*read), comparison.ends_with('e')};
  }
}

Filter FilterHelpers::InRange(Range range, std::string_view where) {
  if (failed()) return {};
  if (!range.lower && !range.upper) {
    return Fail("invalid_filter", fmt::format("{}: a range needs gt, gte, lt or lte", where));
  }
  const Field& field = *range.field;
  return Placed(field, {std::move(range)});
}

Filter FilterHelpers::WithValue(const Field& field) {
  return Placed(field, {Exists{&field}});
}

Filter FilterHelpers::BeginsWith(const Field& field, const base::Json& value,
                                 std::string_view where) {
  if (!NeedsValues(field, where)) return {};
  if (field.value_type() != FieldType::kKeyword) {
    return Fail("invalid_filter", fmt::format("{}: {} has no prefixes", where, field.name));
  }
  auto text = ReadText(value, where);
  if (!text) return {};
  return Placed(field, {Prefix{&field, std::move(*text)}});
}

Filter FilterHelpers::HasWords(const Field& field, const base::Json& value, bool every,
                               std::string_view where) {
  if (field.type != FieldType::kText) return Equal(field, value, where);
  const auto text = ReadText(value, where);
  if (!text) return {};
  std::vector<std::string> words = WordsOf(*text);
  if (words.empty()) return {Or{}};
  if (!every) return Placed(field, {Match{&field, std::move(words)}});
  std::vector<Filter> parts;
  parts.reserve(words.size());
  for (std::string& word : words) parts.push_back({Match{&field, {std::move(word)}}});
  return Placed(field, AllOf(std::move(parts)));
}

Filter FilterHelpers::HasPhrase(const Field& field, const base::Json& value,
                                std::string_view where) {
  if (field.type != FieldType::kText) return Equal(field, value, where);
  const auto text = ReadText(value, where);
  if (!text) return {};
  std::vector<std::string> words = WordsOf(*text);
  if (words.empty()) return {Or{}};
  return Placed(field, {Phrase{&field, std::move(words)}});
}

}  // namespace vedette::domain::search
