#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "domain/exact_number.h"
#include "domain/row_values.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cell_value.h"

// Keeps the rows that meet its conditions. Values compare as monitors compare them: trimmed, and 1
// is "1". Of two numbers the value counts, of anything else the text.
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

using Value = std::optional<std::string>;  // nothing: a blank cell

Value ValueOf(const Json& cell, Case sensitivity) {
  Value value = CellValue(cell);
  if (!value || sensitivity == Case::kSensitive) return value;
  std::string folded;
  icu::UnicodeString::fromUTF8(*value).foldCase().toUTF8String(folded);
  return folded;
}

bool IsSame(const Value& a, const Value& b) {
  if (!a || !b || *a == *b) return a == b;
  return IsDecimalNumber(*a) && IsDecimalNumber(*b) && CompareNumbers(*a, *b) == 0;
}

int Compare(const std::string& a, const std::string& b) {
  if (IsDecimalNumber(a) && IsDecimalNumber(b)) return CompareNumbers(a, b);
  return a.compare(b);
}

struct Condition {
  std::size_t column;
  Op op;
  std::vector<Value> values;  // one, but for in and not_in
};

bool IsAmong(const Value& cell, const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](const Value& value) { return IsSame(cell, value); });
}

// A blank cell is neither less nor greater than anything, and contains nothing.
bool Holds(const Condition& condition, const Value& cell) {
  const Value& value = condition.values.front();
  const bool both = cell && value;
  switch (condition.op) {
    case Op::kEq:
    case Op::kIn:
      return IsAmong(cell, condition.values);
    case Op::kNe:
    case Op::kNotIn:
      return !IsAmong(cell, condition.values);
    case Op::kGt:
      return both && Compare(*cell, *value) > 0;
    case Op::kGte:
      return both && Compare(*cell, *value) >= 0;
    case Op::kLt:
      return both && Compare(*cell, *value) < 0;
    case Op::kLte:
      return both && Compare(*cell, *value) <= 0;
    case Op::kContains:
      return both && cell->find(*value) != std::string::npos;
    case Op::kNotContains:
      return !both || cell->find(*value) == std::string::npos;
    case Op::kStartsWith:
      return both && cell->starts_with(*value);
    case Op::kEndsWith:
      return both && cell->ends_with(*value);
    case Op::kIsEmpty:
      return !cell;
    case Op::kIsNotEmpty:
      return cell.has_value();
  }
  return false;
}

class Filter final : public RowFunction {
 public:
  Filter(const Json& specs, const Columns& input)
      : match_(specs.at("match") == "any" ? Match::kAny : Match::kAll),
        case_(specs.at("case_sensitive").get<bool>() ? Case::kSensitive : Case::kInsensitive) {
    for (const Json& given : specs.at("conditions")) {
      Condition condition{
          ColumnAt(input, given.at("column").get_ref<const std::string&>()), OpOf(given), {}};
      const auto value = given.find("value");
      if (value == given.end() || !value->is_array()) {
        condition.values.push_back(ValueOf(value == given.end() ? Json() : *value, case_));
      } else {
        for (const Json& one : *value) condition.values.push_back(ValueOf(one, case_));
      }
      conditions_.push_back(std::move(condition));
    }
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
    const auto holds = [&](const Condition& condition) {
      return Holds(condition, ValueOf(cell_at(condition.column), case_));
    };
    return match_ == Match::kAny ? std::any_of(conditions_.begin(), conditions_.end(), holds)
                                 : std::all_of(conditions_.begin(), conditions_.end(), holds);
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

std::optional<SpecFault> JudgeCondition(const Json& condition, std::size_t i) {
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

std::optional<SpecFault> Judge(const Json& specs) {
  const Json& conditions = specs.at("conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (auto fault = JudgeCondition(conditions[i], i)) return fault;
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
    .judge = Judge,
};

}  // namespace vedette::domain
