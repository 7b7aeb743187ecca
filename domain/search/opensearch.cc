#include "domain/search/opensearch.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"

namespace vedette::domain::search {
namespace {

using base::Json;

Json Bool(const char* kind, const std::vector<Filter>& parts) {
  Json clauses = Json::array();
  for (const Filter& part : parts) clauses.push_back(FilterClause(part));
  return {{"bool", {{kind, std::move(clauses)}}}};
}

Json MatchAll() {
  return {{"match_all", Json::object()}};
}

// {kind: {field: said}}
Json Said(const char* kind, const std::string& field, Json said) {
  Json named = Json::object();
  named[field] = std::move(said);
  return {{kind, std::move(named)}};
}

Json NestedClause(const std::string& path, Json query) {
  return {{"nested", {{"path", path}, {"query", std::move(query)}}}};
}

// The name of a field that is asked for as a whole, or for its words where it has no whole values.
const std::string& ExactName(const Field& field) {
  return field.has_values() ? field.aggregation_field : field.name;
}

struct Printer {
  Json operator()(const Everything&) const { return MatchAll(); }
  Json operator()(const And& f) const {
    return f.parts.empty() ? MatchAll() : Bool("filter", f.parts);
  }
  Json operator()(const Or& f) const {
    if (f.parts.empty()) return {{"bool", {{"must_not", Json::array({MatchAll()})}}}};
    Json clause = Bool("should", f.parts);
    clause["bool"]["minimum_should_match"] = 1;
    return clause;
  }
  Json operator()(const None& f) const {
    return f.parts.empty() ? MatchAll() : Bool("must_not", f.parts);
  }
  Json operator()(const Nested& f) const { return NestedClause(f.path, (*this)(And{f.parts})); }
  Json operator()(const OneOf& f) const {
    if (f.values.size() == 1) {
      return Said("term", ExactName(*f.field), {{"value", JsonOf(f.values[0])}});
    }
    Json values = Json::array();
    for (const Value& value : f.values) values.push_back(JsonOf(value));
    return Said("terms", ExactName(*f.field), std::move(values));
  }
  Json operator()(const Range& f) const {
    Json bounds = Json::object();
    if (f.lower) bounds[f.lower->inclusive ? "gte" : "gt"] = JsonOf(f.lower->value);
    if (f.upper) bounds[f.upper->inclusive ? "lte" : "lt"] = JsonOf(f.upper->value);
    return Said("range", ExactName(*f.field), std::move(bounds));
  }
  Json operator()(const Exists& f) const { return {{"exists", {{"field", f.field->name}}}}; }
  Json operator()(const Prefix& f) const {
    return Said("prefix", ExactName(*f.field), {{"value", f.text}});
  }
  Json operator()(const Match& f) const {
    return Said("match", f.field->name,
                {{"query", fmt::format("{}", fmt::join(f.words, " "))}, {"operator", "or"}});
  }
  Json operator()(const Phrase& f) const {
    return Said("match_phrase", f.field->name,
                {{"query", fmt::format("{}", fmt::join(f.words, " "))}});
  }
};

Json TermsOf(const Field& field, int values_max, const char* order) {
  return {{"terms",
           {{"field", field.aggregation_field},
            {"size", values_max},
            {"order", Json::array({{{order, "desc"}}, {{"_key", "asc"}}})}}}};
}

// Documents of everybody, or of this organisation.
Json TenantClause(const Tenant& tenant) {
  const Json of_nobody = {
      {"bool", {{"must_not", Json::array({{{"exists", {{"field", tenant.field}}}}})}}}};
  return {{"bool",
           {{"should",
             Json::array({of_nobody, Said("term", tenant.field, {{"value", tenant.org_id}})})},
            {"minimum_should_match", 1}}}};
}

}  // namespace

Json FilterClause(const Filter& filter) {
  return std::visit(Printer(), filter.is);
}

Json TopValuesBody(const Field& field, const Filter& scope, const std::optional<Tenant>& tenant,
                   int values_max, const std::vector<std::string>& excluded_ids) {
  Json conditions = Json::array();
  if (tenant) conditions.push_back(TenantClause(*tenant));
  conditions.push_back(FilterClause(scope));
  const Json without = {{"bool", {{"must_not", Json::array()}}}};
  Json missing = without;
  Json aggregations = Json::object();
  if (!field.has_values()) {
    const Json exists = FilterClause({Exists{&field}});
    missing["bool"]["must_not"].push_back(
        field.nested_path.empty() ? exists : NestedClause(field.nested_path, exists));
  } else if (field.nested_path.empty()) {
    aggregations["values"] = TermsOf(field, values_max, "_count");
    missing["bool"]["must_not"].push_back(FilterClause({Exists{&field}}));
  } else {
    Json values = TermsOf(field, values_max, "documents");
    values["aggs"]["documents"]["reverse_nested"] = Json::object();
    aggregations["objects"] = {{"nested", {{"path", field.nested_path}}},
                               {"aggs", {{"values", std::move(values)}}}};
    missing["bool"]["must_not"].push_back(
        NestedClause(field.nested_path, FilterClause({Exists{&field}})));
  }
  aggregations["missing"]["filter"] = std::move(missing);
  Json query = {{"filter", std::move(conditions)}};
  if (!excluded_ids.empty()) {
    query["must_not"] = Json::array({{{"ids", {{"values", excluded_ids}}}}});
  }
  return {{"size", 0},
          {"track_total_hits", true},
          {"query", {{"bool", std::move(query)}}},
          {"aggs", std::move(aggregations)}};
}

namespace {

// An answer has nine levels, and up to seven values a bucket; what is larger is none of ours.
constexpr int kAnswerDepthMax = 32;
constexpr std::size_t kAnswerValuesMax = 4096;

EngineProblem Unusable(std::string why) {
  return {EngineProblem::Kind::kUnusable, std::move(why)};
}

// The member that the path leads to; null where there is none.
const Json* At(const Json& from, std::initializer_list<const char*> path) {
  const Json* at = &from;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto it = at->find(key);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

std::optional<std::int64_t> CountAt(const Json& from, std::initializer_list<const char*> path) {
  const Json* at = At(from, path);
  if (at == nullptr || !at->is_number_unsigned()) return std::nullopt;
  const auto count = at->get<std::uint64_t>();
  if (count > static_cast<std::uint64_t>(kExactNumberMax)) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

// The key of a bucket as answers list it; empty where it is none of the field's type.
std::optional<std::string> ValueOfKey(const Field& field, const Json& bucket) {
  const Json* key = At(bucket, {"key"});
  if (key == nullptr) return std::nullopt;
  if (IsNumber(field.type)) {
    if (key->is_number_integer()) return base::DumpJson(*key);
    if (key->is_number_float()) return TextOf(key->get<double>());
    return std::nullopt;
  }
  // The key of a boolean or of a date is a number, and its text stands beside it.
  const Json* text = At(bucket, {"key_as_string"});
  if (text == nullptr) text = key;
  if (text->is_boolean()) return base::DumpJson(*text);
  if (!text->is_string()) return std::nullopt;
  auto value = text->get<std::string>();
  if (field.type == FieldType::kBoolean && value != "true" && value != "false") return std::nullopt;
  return value;
}

// What is wrong with the answer as a whole.
std::optional<EngineProblem> ProblemOf(const Json& answer) {
  const Json* timed_out = At(answer, {"timed_out"});
  if (timed_out == nullptr || !timed_out->is_boolean()) {
    return Unusable("the answer does not say whether it timed out");
  }
  if (timed_out->get<bool>()) {
    return EngineProblem{EngineProblem::Kind::kTimedOut, "the engine ran out of time"};
  }
  const auto failed = CountAt(answer, {"_shards", "failed"});
  if (!failed) return Unusable("the answer does not say whether shards failed");
  if (*failed > 0) return Unusable(fmt::format("{} shards failed", *failed));
  const Json* relation = At(answer, {"hits", "total", "relation"});
  if (relation == nullptr || *relation != "eq") return Unusable("the total is not exact");
  return std::nullopt;
}

}  // namespace

std::variant<EngineCount, EngineProblem> ReadEngineAnswer(std::string_view body, const Field& field,
                                                          int values_max) {
  Json answer;
  const base::JsonLimits limits{.depth_max = kAnswerDepthMax, .values_max = kAnswerValuesMax};
  if (auto error = base::ParseJson(body, &answer, limits)) {
    return Unusable("the answer cannot be read: " + error->message);
  }
  if (auto problem = ProblemOf(answer)) return std::move(*problem);
  const bool is_nested = !field.nested_path.empty();
  const Json* values = is_nested ? At(answer, {"aggregations", "objects", "values"})
                                 : At(answer, {"aggregations", "values"});
  const Json* buckets = values == nullptr ? nullptr : At(*values, {"buckets"});
  const auto total = CountAt(answer, {"hits", "total", "value"});
  const auto missing = CountAt(answer, {"aggregations", "missing", "doc_count"});
  if (!field.has_values() && total && missing && *missing <= *total) {
    return EngineCount{{*total, *missing, 0, {}}, false};
  }
  if (buckets == nullptr || !buckets->is_array() || !total || !missing || *missing > *total ||
      buckets->size() > static_cast<std::size_t>(values_max)) {
    return Unusable("the answer lacks what was asked for");
  }
  const auto other = CountAt(*values, {"sum_other_doc_count"});
  const Json* error_bound = At(*values, {"doc_count_error_upper_bound"});
  if (!other || error_bound == nullptr || !error_bound->is_number_integer()) {
    return Unusable("the answer does not say what it leaves out");
  }
  EngineCount read{{*total, *missing, *other, {}},
                   // The bound is -1 where it is not known.
                   *error_bound != 0 || (is_nested && *other > 0)};
  for (const Json& bucket : *buckets) {
    auto value = ValueOfKey(field, bucket);
    const auto count =
        is_nested ? CountAt(bucket, {"documents", "doc_count"}) : CountAt(bucket, {"doc_count"});
    if (!value || !count || *count > *total) return Unusable("a bucket of the answer has no sense");
    read.top.values.push_back({std::move(*value), *count});
  }
  std::sort(read.top.values.begin(), read.top.values.end(),
            [](const ValueCount& a, const ValueCount& b) {
              return a.count != b.count ? a.count > b.count : a.value < b.value;
            });
  return read;
}

}  // namespace vedette::domain::search
