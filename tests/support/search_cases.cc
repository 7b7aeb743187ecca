#include "tests/support/search_cases.h"

#include <utility>

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Field;
using domain::search::FieldType;

constexpr const char* kCatalogue = R"({
  "people": {"tag": {"type": "keyword"}},
  "company": {
    "tag": {"type": "keyword", "related": ["title"], "preferred": true},
    "title": {"type": "text", "aggregation_field": "title.keyword"},
    "note": {"type": "text"},
    "size": {"type": "long"},
    "score": {"type": "double"},
    "open": {"type": "boolean"},
    "since": {"type": "date"},
    "place.city": {"type": "keyword"},
    "jobs.grade": {"type": "keyword", "nested_path": "jobs"},
    "jobs.name": {"type": "text", "nested_path": "jobs", "aggregation_field": "jobs.name.keyword"},
    "jobs.months": {"type": "long", "nested_path": "jobs"},
    "jobs.current": {"type": "boolean", "nested_path": "jobs"}
  }})";

const std::vector<Field>& CompanyFields() {
  static const std::vector<Field> kFields =
      SmallCatalogue().of(domain::search::Mode::kCompany).all();
  return kFields;
}

// The part of the name behind the nested path.
std::string InnerName(const Field& field) {
  return field.nested_path.empty() ? field.name : field.name.substr(field.nested_path.size() + 1);
}

}  // namespace

const std::vector<std::string>& NastyTexts() {
  static const std::vector<std::string> kTexts = {"'; drop table search_entity; --",
                                                  "' or '1' = '1",
                                                  "\") || (1 == 1",
                                                  "\\\") || (1 == 1) || (\"",
                                                  "$.tag ? (@ == \"a\")",
                                                  "@.type()",
                                                  "\\u0022",
                                                  "\"",
                                                  "\\",
                                                  "a\"b\\c",
                                                  "$1",
                                                  "%",
                                                  "_",
                                                  ".*",
                                                  "(?i)a",
                                                  "***=a",
                                                  "[a-z]",
                                                  "^$",
                                                  "{\"match_all\":{}}",
                                                  "\n\t\r",
                                                  "\x1b[31m",
                                                  "\x7f",
                                                  "*/ /*",
                                                  "N\xc3\xafve caf\xc3\xa9",
                                                  "\xe6\x97\xa5\xe6\x9c\xac",
                                                  "\xf0\x9f\x98\x80 smile",
                                                  "\xe2\x80\xae",
                                                  ""};
  return kTexts;
}

domain::search::Catalogue SmallCatalogue() {
  return domain::search::Catalogue(kCatalogue);
}

std::string SearchCases::Text() {
  static const std::vector<std::string> kPlain = {
      "red", "Red", "blue", "deep blue", "Deep  Blue!", "blue deep", "green-blue", "42", "true"};
  if (Chance(25)) {
    return NastyTexts()[static_cast<std::size_t>(Below(static_cast<int>(NastyTexts().size())))];
  }
  return kPlain[static_cast<std::size_t>(Below(static_cast<int>(kPlain.size())))];
}

Json SearchCases::ValueOf(FieldType type) {
  static const std::vector<Json> kLongs = {0, 1, 7, 42, -3, 9007199254740991, 100};
  static const std::vector<Json> kDoubles = {0.5, 1, 2.25, -3.75, 0.1, 100, 1234.5};
  static const std::vector<Json> kDates = {"2023", "2024-05", "2024-05-31", "2024-05-31T09:30:00Z",
                                           "2025-01-01"};
  const auto one_of = [this](const std::vector<Json>& values) {
    return values[static_cast<std::size_t>(Below(static_cast<int>(values.size())))];
  };
  switch (type) {
    case FieldType::kKeyword:
    case FieldType::kText:
      return Text();
    case FieldType::kLong:
      return one_of(kLongs);
    case FieldType::kDouble:
      return one_of(kDoubles);
    case FieldType::kBoolean:
      return Chance(50);
    case FieldType::kDate:
      return one_of(kDates);
  }
  return nullptr;
}

// A value as documents of the world have it.
Json SearchCases::Messy(FieldType type) {
  static const std::vector<Json> kWrong = {
      nullptr, true, 3, "text", Json::object(), Json{{"tag", "red"}}, Json::array()};
  if (Chance(60)) return ValueOf(type);
  if (Chance(25)) return kWrong[static_cast<std::size_t>(Below(static_cast<int>(kWrong.size())))];
  Json list = Json::array();
  for (int left = Below(4); left > 0; --left) list.push_back(ValueOf(type));
  if (Chance(15)) list.push_back(Json::array({ValueOf(type)}));
  if (Chance(15)) list.push_back(nullptr);
  return list;
}

// The fields of a document, or of an object at the nested path.
Json SearchCases::Object(const std::string& nested_path) {
  Json object = Json::object();
  for (const Field& field : CompanyFields()) {
    if (field.nested_path != nested_path || Chance(25)) continue;
    if (field.name == "place.city") {
      object["place"] = Chance(80) ? Json{{"city", Messy(field.type)}}
                                   : Json::array({Json{{"city", Messy(field.type)}}, "x"});
    } else {
      object[InnerName(field)] = Messy(field.type);
    }
  }
  return object;
}

Json SearchCases::Document(const std::string& id) {
  Json document = Object("");
  document["id"] = id;
  if (Chance(20)) return document;
  if (Chance(20)) {
    document["jobs"] = Object("jobs");
    return document;
  }
  Json jobs = Json::array();
  for (int left = Below(4); left > 0; --left) jobs.push_back(Object("jobs"));
  if (Chance(10)) jobs.push_back("no object");
  if (Chance(10)) jobs.push_back(Json::array({Object("jobs")}));
  document["jobs"] = std::move(jobs);
  return document;
}

Json SearchCases::PlainObject(const std::string& nested_path) {
  Json object = Json::object();
  for (const Field& field : CompanyFields()) {
    if (field.nested_path != nested_path || Chance(25)) continue;
    Json value = ValueOf(field.type);
    if (nested_path.empty() && Chance(25)) {
      value = Json::array({std::move(value), ValueOf(field.type)});
    }
    if (field.name == "place.city") {
      object["place"]["city"] = std::move(value);
    } else {
      object[InnerName(field)] = std::move(value);
    }
  }
  return object;
}

Json SearchCases::PlainDocument(const std::string& id) {
  Json document = PlainObject("");
  document["id"] = id;
  if (Chance(20)) return document;
  Json jobs = Json::array();
  for (int left = 1 + Below(3); left > 0; --left) jobs.push_back(PlainObject("jobs"));
  document["jobs"] = std::move(jobs);
  return document;
}

const Field& SearchCases::AnyField(const std::string& nested_path) {
  for (;;) {
    const auto& fields = CompanyFields();
    const Field& field = fields[static_cast<std::size_t>(Below(static_cast<int>(fields.size())))];
    if (nested_path.empty() || field.nested_path == nested_path) return field;
  }
}

const Field& SearchCases::CountedField(const domain::search::Fields& fields) {
  for (;;) {
    const auto& all = fields.all();
    const Field& field = all[static_cast<std::size_t>(Below(static_cast<int>(all.size())))];
    if (field.has_values()) return field;
  }
}

Json SearchCases::DslLeaf(const Field& field) {
  const bool is_text = field.type == FieldType::kText;
  const std::string& exact = field.has_values() ? field.aggregation_field : field.name;
  switch (field.has_values() ? Below(7) : 4 + Below(3)) {
    case 0:
      return {{"term", {{exact, ValueOf(field.type)}}}};
    case 1: {
      Json values = Json::array();
      for (int left = Below(4); left > 0; --left) values.push_back(ValueOf(field.type));
      return {{"terms", {{exact, std::move(values)}}}};
    }
    case 2: {
      if (field.type == FieldType::kBoolean) return {{"term", {{exact, {{"value", true}}}}}};
      Json bounds = Json::object();
      bounds[Chance(50) ? "gt" : "gte"] = ValueOf(field.type);
      if (Chance(60)) bounds[Chance(50) ? "lt" : "lte"] = ValueOf(field.type);
      return {{"range", {{exact, std::move(bounds)}}}};
    }
    case 3:
      if (is_text || field.type == FieldType::kKeyword) return {{"prefix", {{exact, Text()}}}};
      return {{"exists", {{"field", field.name}}}};
    case 4:
      return {{"exists", {{"field", field.name}}}};
    case 5:
      return {{"match",
               {{field.name,
                 {{"query", ValueOf(field.type)}, {"operator", Chance(50) ? "and" : "or"}}}}}};
    default:
      return {{"match_phrase", {{field.name, ValueOf(field.type)}}}};
  }
}

Json SearchCases::DslBool(int depth, const std::string& nested_path) {
  Json parts = Json::object();
  for (const char* kind : {"must", "should", "must_not", "filter"}) {
    if (!Chance(45)) continue;
    Json clauses = Json::array();
    for (int left = 1 + Below(2); left > 0; --left) {
      clauses.push_back(DslClause(depth - 1, nested_path));
    }
    parts[kind] = std::move(clauses);
  }
  if (Chance(20)) parts["minimum_should_match"] = Below(2);
  return {{"bool", std::move(parts)}};
}

Json SearchCases::DslClause(int depth, const std::string& nested_path) {
  if (depth > 0 && Chance(50)) return DslBool(depth, nested_path);
  if (depth > 0 && nested_path.empty() && Chance(20)) {
    return {{"nested", {{"path", "jobs"}, {"query", DslClause(depth - 1, "jobs")}}}};
  }
  if (Chance(5)) return {{"match_all", Json::object()}};
  if (Chance(5)) return {{"constant_score", {{"filter", DslLeaf(AnyField(nested_path))}}}};
  return DslLeaf(AnyField(nested_path));
}

Json SearchCases::SimpleConditions(const Field& field) {
  Json conditions = Json::object();
  if (!field.has_values()) {
    conditions[Chance(50) ? "$match" : "$phrase"] = Text();
    return conditions;
  }
  if (Chance(25)) return Chance(15) ? Json(nullptr) : ValueOf(field.type);
  for (int left = 1 + Below(2); left > 0; --left) {
    switch (Below(6)) {
      case 0:
        conditions[Chance(50) ? "$eq" : "$ne"] = ValueOf(field.type);
        break;
      case 1:
        conditions[Chance(50) ? "$in" : "$nin"] =
            Json::array({ValueOf(field.type), ValueOf(field.type)});
        break;
      case 2:
        conditions["$exists"] = Chance(50);
        break;
      case 3:
        if (field.type == FieldType::kBoolean) conditions["$ne"] = true;
        if (field.type != FieldType::kBoolean) conditions["$gte"] = ValueOf(field.type);
        break;
      case 4:
        if (field.type == FieldType::kBoolean) conditions["$exists"] = true;
        if (field.type != FieldType::kBoolean) conditions["$lt"] = ValueOf(field.type);
        break;
      default:
        conditions["$not"] = {{"$eq", ValueOf(field.type)}};
    }
  }
  return conditions;
}

Json SearchCases::SimpleObject(int depth, const std::string& nested_path) {
  Json object = Json::object();
  for (int left = 1 + Below(2); left > 0; --left) {
    const Field& field = AnyField(nested_path);
    object[nested_path.empty() ? field.name : InnerName(field)] = SimpleConditions(field);
  }
  if (depth > 0 && Chance(40)) {
    Json parts = Json::array();
    for (int left = 1 + Below(2); left > 0; --left) {
      parts.push_back(SimpleObject(depth - 1, nested_path));
    }
    static const char* const kJoints[] = {"$and", "$or", "$nor"};
    object[kJoints[Below(3)]] = std::move(parts);
  }
  if (depth > 0 && nested_path.empty() && Chance(25)) {
    object["jobs"] = {{"$elemMatch", SimpleObject(depth - 1, "jobs")}};
  }
  if (Chance(5)) object["$search"] = Text();
  return object;
}

}  // namespace vedette::test
