#include <string.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <utility>

#include "domain/monitor/row_values.h"
#include "domain/text/exact_number.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cells.h"

// Keeps the rows that meet its conditions. Values compare as monitors compare them: trimmed, and 1
// is "1". Two numbers compare by value, anything else by its text.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["conditions"],
  "properties": {
    "conditions": {"type": "array", "minItems": 1, "maxItems": 32,
      "items": {"type": "object", "additionalProperties": false, "required": ["column", "op"],
        "properties": {
          "column": {"type": "string", "minLength": 1, "maxLength": 200},
          "op": {"type": "string", "enum": ["eq", "ne", "gt", "gte", "lt", "lte", "contains",
            "not_contains", "starts_with", "ends_with", "in", "not_in", "is_empty",
            "is_not_empty"]},
          "value": {"type": ["string", "number", "boolean", "null", "array"], "minItems": 1,
            "maxItems": 1000, "items": {"type": ["string", "number", "boolean", "null"]},
            "description": "A list for in and not_in, nothing for is_empty and is_not_empty."}
        }}},
    "match": {"type": "string", "enum": ["all", "any"], "default": "all"},
    "case_sensitive": {"type": "boolean", "default": true}
  }
})";

enum class Op {
  kEq,
  kNe,
  kGt,
  kGte,
  kLt,
  kLte,
  kContains,
  kNotContains,
  kStartsWith,
  kEndsWith,
  kIn,
  kNotIn,
  kIsEmpty,
  kIsNotEmpty,
};
constexpr std::array<std::string_view, 14> kOps{
    "eq",           "ne",          "gt",        "gte", "lt",     "lte",      "contains",
    "not_contains", "starts_with", "ends_with", "in",  "not_in", "is_empty", "is_not_empty"};

Op OpOf(const Json& condition) {
  const auto& name = condition.at("op").get_ref<const std::string&>();
  return static_cast<Op>(std::find(kOps.begin(), kOps.end(), name) - kOps.begin());
}

enum class Case { kSensitive, kInsensitive };

// A value as it is compared: read once, a cell for its row and a condition's for the filter.
struct Value {
  std::optional<std::string> text;  // nothing: blank
  std::optional<ExactNumber> number;
};

Value ValueOf(const Json& cell, Case sensitivity) {
  Value value{CellValue(cell), {}};
  if (!value.text) return value;
  if (sensitivity == Case::kInsensitive) {
    std::string folded;
    icu::UnicodeString::fromUTF8(*value.text).foldCase().toUTF8String(folded);
    value.text = std::move(folded);
  }
  value.number = ExactNumber::Read(*value.text);
  return value;
}

std::strong_ordering Compare(const Value& a, const Value& b) {
  if (a.number && b.number) return *a.number <=> *b.number;
  return *a.text <=> *b.text;
}

// The values of a condition, in which a cell is looked up: their order is that of numbers, and that
// of texts that are none.
class ValueSet {
 public:
  explicit ValueSet(std::vector<Value> values) {
    for (Value& value : values) {
      if (value.number) {
        numbers_.push_back(*std::move(value.number));
      } else if (value.text) {
        texts_.push_back(*std::move(value.text));
      } else {
        has_blank_ = true;
      }
    }
    std::sort(numbers_.begin(), numbers_.end());
    std::sort(texts_.begin(), texts_.end());
  }

  bool Has(const Value& cell) const {
    if (!cell.text) return has_blank_;
    if (cell.number) return std::binary_search(numbers_.begin(), numbers_.end(), *cell.number);
    return std::binary_search(texts_.begin(), texts_.end(), *cell.text);
  }

 private:
  std::vector<ExactNumber> numbers_;
  std::vector<std::string> texts_;
  bool has_blank_ = false;
};

struct Condition {
  std::size_t column;
  Op op;
  Value value;     // but for in and not_in
  ValueSet among;  // of eq, ne, in and not_in
};

Condition ConditionOf(const Json& given, const Columns& input, Case sensitivity) {
  const std::size_t column = ColumnAt(input, given.at("column").get_ref<const std::string&>());
  const auto found = given.find("value");
  const Json value = found == given.end() ? Json() : *found;
  std::vector<Value> values;
  if (value.is_array()) {
    for (const Json& one : value) values.push_back(ValueOf(one, sensitivity));
  } else {
    values.push_back(ValueOf(value, sensitivity));
  }
  Value first = values.front();
  return {column, OpOf(given), std::move(first), ValueSet(std::move(values))};
}

// Finds as std::string::find does, whose time is the product of both lengths at worst; this one's
// is the sum.
bool Contains(const std::string& text, const std::string& part) {
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

// A blank cell is neither less nor greater than anything, and contains nothing.
bool Holds(const Condition& condition, const Value& cell) {
  const Value& value = condition.value;
  const bool both = cell.text && value.text;
  switch (condition.op) {
    case Op::kEq:
    case Op::kIn:
      return condition.among.Has(cell);
    case Op::kNe:
    case Op::kNotIn:
      return !condition.among.Has(cell);
    case Op::kGt:
      return both && Compare(cell, value) > 0;
    case Op::kGte:
      return both && Compare(cell, value) >= 0;
    case Op::kLt:
      return both && Compare(cell, value) < 0;
    case Op::kLte:
      return both && Compare(cell, value) <= 0;
    case Op::kContains:
      return both && Contains(*cell.text, *value.text);
    case Op::kNotContains:
      return !both || !Contains(*cell.text, *value.text);
    case Op::kStartsWith:
      return both && cell.text->starts_with(*value.text);
    case Op::kEndsWith:
      return both && cell.text->ends_with(*value.text);
    case Op::kIsEmpty:
      return !cell.text;
    case Op::kIsNotEmpty:
      return cell.text.has_value();
  }
  return false;
}

class Filter final : public RowFunction {
 public:
  Filter(const Json& specs, const Columns& input)
      : match_(specs.at("match") == "any" ? Match::kAny : Match::kAll),
        case_(specs.at("case_sensitive").get<bool>() ? Case::kSensitive : Case::kInsensitive) {
    for (const Json& given : specs.at("conditions")) {
      conditions_.push_back(ConditionOf(given, input, case_));
    }
    // Conditions on one column come one after another, so that a row's cell is read once.
    std::stable_sort(conditions_.begin(), conditions_.end(),
                     [](const Condition& a, const Condition& b) { return a.column < b.column; });
  }

  std::optional<Cells> Apply(Cells row) const override {
    if (!Keeps([&row](std::size_t column) -> const Json& { return row.at(column); })) {
      return std::nullopt;
    }
    return row;
  }

  bool ApplyTexts(const base::CellTexts& row, base::CellTexts* out,
                  std::vector<std::string>* /*made*/) const override {
    if (!Keeps([&row](std::size_t column) { return base::ReadJsonCell(row.at(column)); })) {
      return false;
    }
    *out = row;
    return true;
  }

 private:
  enum class Match { kAll, kAny };

  // `cell_at` gives the cell of a column.
  template <typename F>
  bool Keeps(F&& cell_at) const {
    Value cell;
    const Condition* read = nullptr;  // the last one whose cell was read
    for (const Condition& condition : conditions_) {
      if (read == nullptr || read->column != condition.column) {
        cell = ValueOf(cell_at(condition.column), case_);
      }
      read = &condition;
      const bool decides = match_ == Match::kAny;
      if (Holds(condition, cell) == decides) return decides;
    }
    return match_ == Match::kAll;
  }

  const Match match_;
  const Case case_;
  std::vector<Condition> conditions_;
};

Columns Bind(const Json& specs, const Columns& input) {
  for (const Json& condition : specs.at("conditions")) {
    ColumnAt(input, condition.at("column").get_ref<const std::string&>());
  }
  return input;
}

std::unique_ptr<const RowFunction> Make(const Json& specs, const Columns& input) {
  return std::make_unique<Filter>(specs, input);
}

std::optional<SpecFault> ValidateCondition(const Json& condition, std::size_t i) {
  const Json at = Json::array({"conditions", i, "value"});
  const Op op = OpOf(condition);
  const auto value = condition.find("value");
  const bool given = value != condition.end() && !value->is_null();
  if (op == Op::kIsEmpty || op == Op::kIsNotEmpty) {
    if (!given) return std::nullopt;
    return SpecFault{at, "extra_forbidden", "is_empty and is_not_empty take no value"};
  }
  if (value == condition.end()) return SpecFault{at, "missing", "Field required"};
  const bool takes_list = op == Op::kIn || op == Op::kNotIn;
  if (takes_list == value->is_array()) return std::nullopt;
  return takes_list ? SpecFault{at, "list_type", "in and not_in take a list of values"}
                    : SpecFault{at, "scalar_type", "Only in and not_in take a list of values"};
}

std::optional<SpecFault> Validate(const Json& specs) {
  const Json& conditions = specs.at("conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (auto fault = ValidateCondition(conditions[i], i)) return fault;
  }
  return std::nullopt;
}

}  // namespace

const BlockType kFilterBlock{
    .name = "filter",
    .description = "Keeps the rows that meet all, or any, of its conditions.",
    .specs_schema = kSchema,
    .category = BlockCategory::kTransform,
    .work = BlockWork::kRowFunction,
    .drops_rows = true,
    .bind = Bind,
    .make = Make,
    .validate = Validate,
};

}  // namespace vedette::domain
