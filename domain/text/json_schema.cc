#include "domain/text/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

using base::Json;

// What a type is called in a fault, and to a reader.
struct TypeWords {
  std::string_view name;
  std::string_view code;
  std::string_view words;
};
constexpr std::array kTypes{
    TypeWords{"string", "string_type", "a string"},
    TypeWords{"integer", "int_type", "an integer"},
    TypeWords{"number", "float_type", "a number"},
    TypeWords{"boolean", "bool_type", "true or false"},
    TypeWords{"array", "list_type", "an array"},
    TypeWords{"object", "dict_type", "an object"},
    TypeWords{"null", "none_type", "null"},
};

constexpr std::array<std::string_view, 21> kKnown{
    "type",          "required",    "additionalProperties",
    "properties",    "items",       "enum",
    "const",         "minimum",     "maximum",
    "minLength",     "maxLength",   "minItems",
    "maxItems",      "title",       "minProperties",
    "maxProperties", "description", "default",
    "examples",      "$schema",     "uniqueItems"};

bool IsWhole(const Json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return number == std::floor(number);
}

bool IsNumber(const Json& value) {
  return value.is_number() || base::NumberText(value).has_value();
}

// Beyond it a double has not the digits of every integer.
constexpr std::int64_t kExactMax = 9'007'199'254'740'992;

// The integer that a number is which is kept as its text, such as 1e2 or -0: those who read an
// integer find one, whatever its notation.
std::optional<std::int64_t> KeptInteger(const Json& value) {
  if (!base::NumberText(value)) return std::nullopt;
  const auto integer = IntegerOf(value);
  if (!integer || *integer > kExactMax || *integer < -kExactMax) return std::nullopt;
  return integer;
}

bool HasType(const Json& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return IsWhole(value) || KeptInteger(value).has_value();
  if (type == "number") return IsNumber(value);
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return value.is_null();
}

const Json* Find(const Json& schema, const char* keyword) {
  const auto at = schema.find(keyword);
  return at == schema.end() ? nullptr : &*at;
}

const TypeWords& WordsOf(std::string_view type) {
  return *std::find_if(kTypes.begin(), kTypes.end() - 1,
                       [type](const TypeWords& words) { return words.name == type; });
}

class Validator {
 public:
  Validator(const Json& loc, ValidationFaults* faults) : loc_(loc), faults_(faults) {}

  void Apply(const Json& schema, Json* value) {
    if (!CheckType(schema, value)) return;
    CheckChoice(schema, *value);
    if (value->is_string()) CheckText(schema, *value);
    if (IsNumber(*value)) CheckNumber(schema, *value);
    if (value->is_array()) CheckArray(schema, value);
    if (value->is_object()) CheckObject(schema, value);
  }

 private:
  void Add(std::string type, std::string msg, const Json& input, Json ctx = nullptr) {
    faults_->push_back({loc_, std::move(type), std::move(msg), input, std::move(ctx)});
  }

  // False where the value is of no type that the schema allows: nothing else is checked then.
  bool CheckType(const Json& schema, Json* value) {
    const Json* type = Find(schema, "type");
    if (type == nullptr) return true;
    const Json types = type->is_array() ? *type : Json::array({*type});
    std::string words;
    for (const Json& one : types) {
      const auto& name = one.get_ref<const std::string&>();
      if (HasType(*value, name)) {
        if (const auto integer = KeptInteger(*value); integer && name == "integer") {
          *value = *integer;
        }
        return true;
      }
      words += (words.empty() ? "" : " or ") + std::string(WordsOf(name).words);
    }
    const auto& first = types.at(0).get_ref<const std::string&>();
    Add(std::string(WordsOf(first).code), "Input should be " + words, *value);
    return false;
  }

  void CheckChoice(const Json& schema, const Json& value) {
    if (const Json* only = Find(schema, "const"); only != nullptr && *only != value) {
      Add("literal_error", "Input should be " + base::DumpJson(*only), value,
          {{"expected", *only}});
    }
    const Json* choice = Find(schema, "enum");
    if (choice == nullptr || std::find(choice->begin(), choice->end(), value) != choice->end()) {
      return;
    }
    std::string words;
    for (const Json& one : *choice) words += (words.empty() ? "" : ", ") + base::DumpJson(one);
    Add("enum", "Input should be one of " + words, value, {{"expected", *choice}});
  }

  void CheckText(const Json& schema, const Json& value) {
    const std::size_t chars = base::CountCharacters(value.get_ref<const std::string&>());
    CheckSize(
        schema,
        {"minLength", "maxLength", "string_too_short", "string_too_long", "String", "character(s)"},
        chars, value);
  }

  struct SizeWords {
    const char* min;
    const char* max;
    const char* too_short;
    const char* too_long;
    const char* what;
    const char* units;
  };
  void CheckSize(const Json& schema, const SizeWords& words, std::size_t size, const Json& value) {
    const Json* min = Find(schema, words.min);
    if (min != nullptr && size < min->get<std::size_t>()) {
      Add(words.too_short,
          fmt::format("{} should have at least {} {}, has {}", words.what, min->get<std::size_t>(),
                      words.units, size),
          value, {{"min_length", *min}});
    }
    const Json* max = Find(schema, words.max);
    if (max != nullptr && size > max->get<std::size_t>()) {
      Add(words.too_long,
          fmt::format("{} should have at most {} {}, has {}", words.what, max->get<std::size_t>(),
                      words.units, size),
          value, {{"max_length", *max}});
    }
  }

  void CheckNumber(const Json& schema, const Json& value) {
    const auto kept = base::NumberText(value);
    const double number =
        kept ? std::strtod(std::string(*kept).c_str(), nullptr) : value.get<double>();
    const Json* min = Find(schema, "minimum");
    if (min != nullptr && number < min->get<double>()) {
      Add("greater_than_equal", "Input should be greater than or equal to " + base::DumpJson(*min),
          value, {{"ge", *min}});
    }
    const Json* max = Find(schema, "maximum");
    if (max != nullptr && number > max->get<double>()) {
      Add("less_than_equal", "Input should be less than or equal to " + base::DumpJson(*max), value,
          {{"le", *max}});
    }
  }

  void CheckArray(const Json& schema, Json* value) {
    CheckSize(schema, {"minItems", "maxItems", "too_short", "too_long", "Array", "item(s)"},
              value->size(), *value);
    const Json* unique = Find(schema, "uniqueItems");
    if (unique != nullptr && unique->get<bool>()) CheckUnique(*value);
    const Json* items = Find(schema, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < value->size(); ++i) {
      ApplySchema(*items, LocOf(loc_, i), &(*value)[i], faults_);
    }
  }

  void CheckUnique(const Json& array) {
    std::set<std::string> texts;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (texts.insert(base::DumpJson(array[i])).second) continue;
      faults_->push_back({LocOf(loc_, i), "duplicate", "It is there already", array[i]});
    }
  }

  void CheckObject(const Json& schema, Json* value) {
    CheckSize(schema,
              {"minProperties", "maxProperties", "too_short", "too_long", "Object", "member(s)"},
              value->size(), *value);
    CheckRequired(schema, *value);
    const Json* properties = Find(schema, "properties");
    const Json* additional = Find(schema, "additionalProperties");
    for (auto& [name, member] : value->items()) {
      const Json* known = properties == nullptr ? nullptr : Find(*properties, name.c_str());
      const Json loc = LocOf(loc_, name);
      if (known != nullptr) {
        ApplySchema(*known, loc, &member, faults_);
      } else if (additional != nullptr && additional->is_object()) {
        ApplySchema(*additional, loc, &member, faults_);
      } else if (additional != nullptr && *additional == false) {
        faults_->push_back({loc, "extra_forbidden", "There is no such field", member});
      }
    }
    if (properties != nullptr) FillIn(*properties, value);
  }

  void CheckRequired(const Json& schema, const Json& value) {
    const Json* required = Find(schema, "required");
    if (required == nullptr) return;
    for (const Json& name : *required) {
      if (value.contains(name.get_ref<const std::string&>())) continue;
      faults_->push_back({LocOf(loc_, name), "missing", "Field required"});
    }
  }

  static void FillIn(const Json& properties, Json* value) {
    for (const auto& [name, property] : properties.items()) {
      const Json* absent = Find(property, "default");
      if (absent != nullptr && !value->contains(name)) (*value)[name] = *absent;
    }
  }

  const Json& loc_;
  ValidationFaults* const faults_;
};

void FindUnknown(const Json& schema, std::vector<std::string>* unknown) {
  for (const auto& [keyword, value] : schema.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), keyword) == kKnown.end()) {
      unknown->push_back(keyword);
    } else if (keyword == "properties") {
      for (const auto& [name, property] : value.items()) FindUnknown(property, unknown);
    } else if ((keyword == "items" || keyword == "additionalProperties") && value.is_object()) {
      FindUnknown(value, unknown);
    }
  }
}

}  // namespace

std::optional<std::int64_t> IntegerOf(const Json& value) {
  using Range = std::numeric_limits<std::int64_t>;
  if (value.is_number_unsigned()) {
    constexpr auto kMost = static_cast<std::uint64_t>(Range::max());
    return static_cast<std::int64_t>(std::min(value.get<std::uint64_t>(), kMost));
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const auto kept = base::NumberText(value);
  if (!kept && !value.is_number_float()) return std::nullopt;
  const double number =
      kept ? std::strtod(std::string(*kept).c_str(), nullptr) : value.get<double>();
  if (number != std::floor(number)) return std::nullopt;
  constexpr double kEnd = 9'223'372'036'854'775'808.0;  // the first one that 64 bits do not hold
  if (number >= kEnd) return Range::max();
  if (number < -kEnd) return Range::min();
  return static_cast<std::int64_t>(number);
}

void ApplySchema(const Json& schema, const Json& loc, Json* value, ValidationFaults* faults) {
  Validator(loc, faults).Apply(schema, value);
}

Json LocOf(const Json& loc, const Json& step) {
  Json longer = loc;
  longer.push_back(step);
  return longer;
}

std::vector<std::string> UnknownKeywords(const Json& schema) {
  std::vector<std::string> unknown;
  FindUnknown(schema, &unknown);
  return unknown;
}

}  // namespace vedette::domain
