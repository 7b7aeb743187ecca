#include "domain/search/dsl_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/json.h"
#include "domain/search/values.h"

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

}  // namespace vedette::domain::search
