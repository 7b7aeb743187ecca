#include "domain/search/filter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/search/filter_reader.h"
#include "domain/text/exact_number.h"

namespace vedette::domain::search {

bool IsWordByte(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || (static_cast<unsigned char>(c) & 0x80);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : text) {
    if (!IsWordByte(c)) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    words.back() += base::AsciiLower(c);
    within = true;
  }
  return words;
}

namespace {

// The value that a listed text stands for, if a filter can have it.
std::optional<base::Json> TypedValue(const Field& field, std::string_view text) {
  if (field.type == FieldType::kBoolean) return base::Json(text == "true");
  if (!IsNumber(field.type)) return base::Json(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  base::Json value = JsonOf(number);
  // More digits than a double has.
  if (!IsSameNumber(base::DumpJson(value), text)) return std::nullopt;
  return value;
}

}  // namespace

base::Json JsonOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const double number = std::get<double>(value);
  if (std::trunc(number) == number && std::abs(number) <= kExactNumberMax) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

std::string TextOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return base::DumpJson(JsonOf(value));
}

base::Json FilterSnippet(const Field& field, std::string_view text) {
  if (!field.has_values()) return base::Json::object();
  const auto value = TypedValue(field, text);
  if (!value) return base::Json::object();
  base::Json clause = {{"term", {{field.aggregation_field, *value}}}};
  if (!field.nested_path.empty()) {
    clause = {{"nested", {{"path", field.nested_path}, {"query", std::move(clause)}}}};
  }
  // What the reader refuses, such as a text that is too long, is no filter.
  Fields only({field});
  if (std::holds_alternative<FilterError>(ReadDslFilter(clause, only))) return base::Json::object();
  return clause;
}

namespace {

using Found = std::vector<const base::Json*>;

// What is in a list, or else the value itself.
Found Items(const Found& from) {
  Found items;
  for (const base::Json* value : from) {
    if (!value->is_array()) {
      items.push_back(value);
      continue;
    }
    for (const base::Json& item : *value) items.push_back(&item);
  }
  return items;
}

Found Follow(const base::Json& from, const std::vector<std::string>& keys) {
  Found at = {&from};
  for (const std::string& key : keys) {
    Found next;
    for (const base::Json* value : Items(at)) {
      if (!value->is_object()) continue;
      const auto it = value->find(key);
      if (it != value->end()) next.push_back(&*it);
    }
    at = std::move(next);
  }
  return Items(at);
}

// The objects at a nested path.
Found Objects(const base::Json& document, const std::string& path) {
  Found objects = Follow(document, SplitPath(path));
  std::erase_if(objects, [](const base::Json* value) { return !value->is_object(); });
  return objects;
}

// The field's values in the document, or in the object at its nested path.
std::vector<Value> ValuesIn(const Field& field, const base::Json& object) {
  std::vector<Value> values;
  for (const base::Json* value : Follow(object, field.Path())) {
    if (IsNumber(field.type)) {
      if (value->is_number()) values.emplace_back(value->get<double>());
    } else if (field.type == FieldType::kBoolean) {
      if (value->is_boolean()) values.emplace_back(value->get<bool>());
    } else if (value->is_string()) {
      values.emplace_back(value->get<std::string>());
    }
  }
  return values;
}

bool HasPhrase(const std::vector<std::string>& words, const std::vector<std::string>& phrase) {
  return std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end();
}

struct Evaluator {
  const base::Json& object;  // the document, or one at a nested path

  bool Holds(const Filter& filter) const { return std::visit(*this, filter.is); }

  template <typename Condition>
  bool Any(const Field& field, Condition condition) const {
    const auto values = ValuesIn(field, object);
    return std::any_of(values.begin(), values.end(), condition);
  }

  bool All(const std::vector<Filter>& parts) const {
    return std::all_of(parts.begin(), parts.end(), [this](const Filter& f) { return Holds(f); });
  }
  bool Some(const std::vector<Filter>& parts) const {
    return std::any_of(parts.begin(), parts.end(), [this](const Filter& f) { return Holds(f); });
  }

  bool operator()(const Everything&) const { return true; }
  bool operator()(const And& f) const { return All(f.parts); }
  bool operator()(const Or& f) const { return Some(f.parts); }
  bool operator()(const None& f) const { return !Some(f.parts); }
  bool operator()(const Nested& f) const {
    const Found objects = Objects(object, f.path);
    return std::any_of(objects.begin(), objects.end(),
                       [&](const base::Json* inner) { return Evaluator{*inner}.All(f.parts); });
  }
  bool operator()(const OneOf& f) const {
    return Any(*f.field, [&](const Value& value) {
      return std::find(f.values.begin(), f.values.end(), value) != f.values.end();
    });
  }
  bool operator()(const Range& f) const {
    return Any(*f.field, [&](const Value& value) {
      if (f.lower && (value < f.lower->value || (!f.lower->inclusive && value == f.lower->value))) {
        return false;
      }
      return !f.upper ||
             !(f.upper->value < value || (!f.upper->inclusive && value == f.upper->value));
    });
  }
  bool operator()(const Exists& f) const {
    return Any(*f.field, [](const Value&) { return true; });
  }
  bool operator()(const Prefix& f) const {
    return Any(*f.field, [&](const Value& value) {
      return std::get<std::string>(value).starts_with(f.text);
    });
  }
  bool operator()(const Match& f) const {
    return Any(*f.field, [&](const Value& value) {
      const auto words = WordsOf(std::get<std::string>(value));
      return std::find_first_of(words.begin(), words.end(), f.words.begin(), f.words.end()) !=
             words.end();
    });
  }
  bool operator()(const Phrase& f) const {
    return Any(*f.field, [&](const Value& value) {
      return HasPhrase(WordsOf(std::get<std::string>(value)), f.words);
    });
  }
};

}  // namespace

bool Evaluate(const Filter& filter, const base::Json& document) {
  return Evaluator{document}.Holds(filter);
}

std::vector<Value> ValuesOf(const Field& field, const base::Json& document) {
  std::vector<Value> values;
  if (field.nested_path.empty()) {
    values = ValuesIn(field, document);
  } else {
    for (const base::Json* object : Objects(document, field.nested_path)) {
      for (Value& value : ValuesIn(field, *object)) values.push_back(std::move(value));
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

TopValues CountValues(const Field& field, const Filter& filter,
                      const std::vector<base::Json>& documents, std::size_t values_max) {
  TopValues top;
  std::map<std::string, std::int64_t> counts;
  for (const base::Json& document : documents) {
    if (!Evaluate(filter, document)) continue;
    ++top.total;
    const auto values = ValuesOf(field, document);
    if (values.empty()) ++top.missing;
    for (const Value& value : values) ++counts[TextOf(value)];
  }
  for (const auto& [value, count] : counts) top.values.push_back({value, count});
  std::stable_sort(top.values.begin(), top.values.end(),
                   [](const ValueCount& a, const ValueCount& b) { return a.count > b.count; });
  while (top.values.size() > values_max) {
    top.other += top.values.back().count;
    top.values.pop_back();
  }
  return top;
}

}  // namespace vedette::domain::search
