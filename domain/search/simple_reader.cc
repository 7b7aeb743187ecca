// Filters as document stores write them.
#include <fmt/format.h>

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/search/filter_reader.h"

namespace vedette::domain::search {
namespace {

constexpr std::size_t kKeyCharsShown = 60;

// The place of a member, for messages, which stay short whatever the member is called.
std::string Below(const std::string& where, const std::string& key) {
  return where + "." + base::CutCharacters(key, kKeyCharsShown);
}

class SimpleReader {
 public:
  explicit SimpleReader(const Fields& fields) : kit_(fields) {}

  FilterRead Read(const base::Json& filters) {
    return kit_.Take(ReadObject(filters, "simple_filters"));
  }

 private:
  Filter Invalid(const std::string& where, std::string_view why) {
    return kit_.Fail("invalid_filter", fmt::format("{}: {}", where, why));
  }

  // Conditions that hold together.
  Filter ReadObject(const base::Json& given, const std::string& where) {
    const FilterHelpers::Clause counted(&kit_, where);
    if (!counted.ok()) return {};
    if (!given.is_object()) return Invalid(where, "this has to be an object");
    std::vector<Filter> parts;
    for (const auto& [key, value] : given.items()) {
      const std::string at = Below(where, key);
      parts.push_back(key.starts_with('$') ? ReadJoined(key, value, at)
                                           : ReadField(key, value, at));
      if (kit_.failed()) return {};
    }
    return AllOf(std::move(parts));
  }

  Filter ReadJoined(const std::string& name, const base::Json& value, const std::string& where) {
    if (name == "$not") return NotAny(ReadObject(value, where));
    if (name == "$search") return ReadSearch(value, where);
    if (name != "$and" && name != "$or" && name != "$nor") return kit_.Unsupported(name, where);
    if (!value.is_array()) return Invalid(where, "give a list of objects");
    std::vector<Filter> parts;
    for (std::size_t i = 0; i < value.size() && !kit_.failed(); ++i) {
      parts.push_back(ReadObject(value[i], fmt::format("{}[{}]", where, i)));
    }
    if (name == "$and") return AllOf(std::move(parts));
    if (name == "$or") return {Or{std::move(parts)}};
    return {None{std::move(parts)}};
  }

  // Documents in which one text has all of the words.
  Filter ReadSearch(const base::Json& value, const std::string& where) {
    Or any;
    for (const Field& field : kit_.fields().all()) {
      if (field.type != FieldType::kText) continue;
      if (!kit_.nested_path().empty() && field.nested_path != kit_.nested_path()) continue;
      any.parts.push_back(kit_.HasWords(field, value, true, where));
      if (kit_.failed()) return {};
    }
    return {std::move(any)};
  }

  Filter ReadField(const std::string& name, const base::Json& value, const std::string& where) {
    if (kit_.fields().HasNestedPath(name) && value.is_object()) {
      return ReadObjects(name, value, where);
    }
    const Field* field = FindField(name, where);
    return field == nullptr ? Filter{} : ReadConditions(*field, value, where);
  }

  // Inside $elemMatch a field may be named as seen from its object: "title" of "experience".
  const Field* FindField(const std::string& name, const std::string& where) {
    const std::string inner = kit_.nested_path() + "." + name;
    const bool is_inner = !kit_.nested_path().empty() && kit_.fields().Find(inner) != nullptr;
    return kit_.FieldAt(is_inner ? inner : name, where);
  }

  // What is asked of the objects at a path: that one of them, or none, meets everything.
  Filter ReadObjects(const std::string& path, const base::Json& given, const std::string& where) {
    const FilterHelpers::Clause counted(&kit_, where);
    if (!counted.ok()) return {};
    if (given.empty()) return Invalid(where, "name an operator, such as $elemMatch");
    std::vector<Filter> parts;
    for (const auto& [name, value] : given.items()) {
      const std::string at = Below(where, name);
      if (name == "$elemMatch") {
        parts.push_back(kit_.Within(path, at, [&, &one = value] { return ReadObject(one, at); }));
      } else if (name == "$not" && value.is_object()) {
        parts.push_back(NotAny(ReadObjects(path, value, at)));
      } else {
        return Invalid(at,
                       "objects are asked by $elemMatch; a field of theirs is named by its path");
      }
      if (kit_.failed()) return {};
    }
    return AllOf(std::move(parts));
  }

  // One value that meets everything.
  Filter ReadElement(const Field& field, const base::Json& value, const std::string& where) {
    if (!value.is_object()) return Invalid(where, "this has to be an object");
    Range range{&field, {}, {}};
    for (const auto& [key, bound] : value.items()) {
      if (!IsComparison(key)) return kit_.Unsupported(key, where);
      kit_.AddBound(std::string_view(key).substr(1), bound, where, &range);
      if (kit_.failed()) return {};
    }
    return kit_.InRange(std::move(range), where);
  }

  static bool IsComparison(std::string_view name) {
    return name == "$gt" || name == "$gte" || name == "$lt" || name == "$lte";
  }

  // {"$gt": 1, "$ne": 5}, or a value.
  Filter ReadConditions(const Field& field, const base::Json& given, const std::string& where) {
    const FilterHelpers::Clause counted(&kit_, where);
    if (!counted.ok()) return {};
    if (given.is_array()) return Invalid(where, "for one of several values use $in");
    if (!given.is_object()) return ReadEqual(field, given, where);
    if (given.empty()) return Invalid(where, "name an operator, such as $eq");
    std::vector<Filter> parts;
    for (const auto& [name, value] : given.items()) {
      parts.push_back(ReadOperator(field, name, value, Below(where, name)));
      if (kit_.failed()) return {};
    }
    return AllOf(std::move(parts));
  }

  // Null is no value, as everywhere.
  Filter ReadEqual(const Field& field, const base::Json& value, const std::string& where) {
    if (value.is_null()) return NotAny(kit_.WithValue(field));
    return kit_.Equal(field, value, where);
  }

  // Several bounds may be met by several values of a field, as document stores have it; one value
  // for all of them is $elemMatch.
  Filter ReadOperator(const Field& field, const std::string& name, const base::Json& value,
                      const std::string& where) {
    if (IsComparison(name)) {
      Range range{&field, {}, {}};
      kit_.AddBound(std::string_view(name).substr(1), value, where, &range);
      return kit_.InRange(std::move(range), where);
    }
    if (name == "$eq") return ReadEqual(field, value, where);
    if (name == "$ne") return NotAny(ReadEqual(field, value, where));
    if (name == "$in") return kit_.AnyOf(field, value, where);
    if (name == "$nin") return NotAny(kit_.AnyOf(field, value, where));
    if (name == "$match") return kit_.HasWords(field, value, false, where);
    if (name == "$phrase") return kit_.HasPhrase(field, value, where);
    if (name == "$elemMatch") return ReadElement(field, value, where);
    if (name == "$not") {
      if (!value.is_object()) return Invalid(where, "give an object with operators");
      return NotAny(ReadConditions(field, value, where));
    }
    if (name == "$exists") {
      if (!value.is_boolean()) return Invalid(where, "this is true or false");
      return value.get<bool>() ? kit_.WithValue(field) : NotAny(kit_.WithValue(field));
    }
    if (!name.starts_with('$')) {
      return Invalid(where,
                     "this has to be an operator; a field of an object is named by its path");
    }
    return kit_.Unsupported(name, where);
  }

  FilterHelpers kit_;
};

}  // namespace

FilterRead ReadSimpleFilter(const base::Json& filters, const Fields& fields) {
  return SimpleReader(fields).Read(filters);
}

}  // namespace vedette::domain::search
