// Filters as OpenSearch and Elasticsearch write them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/search/filter_reader.h"
#include "domain/text/json_schema.h"

namespace vedette::domain::search {
namespace {

// "At least `count` of these" in the words of the tree, which has no counting: i of the first half
// and the others of the second one, for every i. Its leaves are copies of the parts.
constexpr std::size_t kAtLeastLeavesMax = 4096;

Filter AtLeast(std::size_t count, std::span<const Filter> parts) {
  if (count == 0) return {};
  if (count == parts.size()) return {And{{parts.begin(), parts.end()}}};
  if (count == 1) return {Or{{parts.begin(), parts.end()}}};
  const auto first = parts.first(parts.size() / 2);
  const auto second = parts.subspan(first.size());
  std::vector<Filter> ways;
  for (std::size_t i = 0; i <= std::min(count, first.size()); ++i) {
    if (count - i > second.size()) continue;
    ways.push_back(AllOf({AtLeast(i, first), AtLeast(count - i, second)}));
  }
  return {Or{std::move(ways)}};
}

// How many leaves that has, counted no further than is of interest.
std::size_t LeavesOfAtLeast(std::size_t count, std::size_t parts) {
  if (count == 0) return 0;
  if (count == parts || count == 1) return parts;
  const std::size_t first = parts / 2;
  std::size_t leaves = 0;
  for (std::size_t i = 0; i <= std::min(count, first) && leaves <= kAtLeastLeavesMax; ++i) {
    if (count - i > parts - first) continue;
    leaves += LeavesOfAtLeast(i, first) + LeavesOfAtLeast(count - i, parts - first);
  }
  return leaves;
}

// How much a copy of the filter takes: its values and words, and one for anything else.
std::size_t WeightOf(const Filter& filter) {
  return std::visit(
      [](const auto& is) -> std::size_t {
        if constexpr (requires { is.parts; }) {
          std::size_t sum = 1;
          for (const Filter& part : is.parts) sum += WeightOf(part);
          return sum;
        } else if constexpr (requires { is.values; }) {
          return is.values.size();
        } else if constexpr (requires { is.words; }) {
          return is.words.size();
        } else {
          return 1;
        }
      },
      filter.is);
}

bool FitsAtLeast(std::size_t count, const std::vector<Filter>& parts) {
  std::size_t heaviest = 1;
  for (const Filter& part : parts) heaviest = std::max(heaviest, WeightOf(part));
  return LeavesOfAtLeast(count, parts.size()) * heaviest <= kAtLeastLeavesMax;
}

class DslReader {
 public:
  explicit DslReader(const Fields& fields) : kit_(fields) {}

  FilterRead Read(const base::Json& filters) {
    if (filters.is_object() && filters.contains("query")) {
      for (const auto& [key, value] : filters.items()) {
        if (key != "query") return kit_.Take(kit_.Unsupported(key, "filters"));
      }
      return kit_.Take(ReadClause(filters["query"], "filters.query"));
    }
    if (filters.is_object() && filters.empty()) return Filter{};
    return kit_.Take(ReadClause(filters, "filters"));
  }

 private:
  using ReadBody = Filter (DslReader::*)(const base::Json& body, const std::string& where);
  struct Kind {
    std::string_view name;
    ReadBody read;
  };
  static const Kind kKinds[];

  Filter Invalid(const std::string& where, std::string_view why) {
    return kit_.Fail("invalid_filter", fmt::format("{}: {}", where, why));
  }

  Filter ReadClause(const base::Json& clause, const std::string& where) {
    const FilterHelpers::Clause counted(&kit_, where);
    if (!counted.ok()) return {};
    if (!clause.is_object()) return Invalid(where, "a clause is an object");
    for (const auto& [key, value] : clause.items()) {
      if (FindKind(key) == nullptr) return kit_.Unsupported(key, where);
    }
    if (clause.size() != 1) return Invalid(where, "a clause is an object with one member");
    const std::string& name = clause.begin().key();
    const base::Json& body = clause.begin().value();
    const std::string at = where + "." + name;
    if (!body.is_object()) return Invalid(at, "this has to be an object");
    return (this->*FindKind(name)->read)(body, at);
  }

  static const Kind* FindKind(std::string_view name);

  // The clauses of `must`, `should` ...: a list, or one alone.
  std::vector<Filter> ReadClauses(const base::Json& given, const std::string& where) {
    std::vector<Filter> parts;
    if (!given.is_array()) {
      parts.push_back(ReadClause(given, where));
      return parts;
    }
    for (std::size_t i = 0; i < given.size() && !kit_.failed(); ++i) {
      parts.push_back(ReadClause(given[i], fmt::format("{}[{}]", where, i)));
    }
    return parts;
  }

  Filter ReadBool(const base::Json& body, const std::string& where) {
    std::vector<Filter> all;
    std::vector<Filter> should;
    std::vector<Filter> none;
    bool has_required = false;
    for (const auto& [key, value] : body.items()) {
      if (key == "minimum_should_match") continue;
      const bool is_required = key == "must" || key == "filter";
      if (!is_required && key != "should" && key != "must_not") return kit_.Unsupported(key, where);
      std::vector<Filter> parts = ReadClauses(value, where + "." + key);
      std::vector<Filter>& into = is_required ? all : key == "should" ? should : none;
      has_required = has_required || (is_required && !parts.empty());
      std::move(parts.begin(), parts.end(), std::back_inserter(into));
    }
    const std::size_t at_least = LeastOf(body, where, should.size(), has_required);
    if (kit_.failed()) return {};
    const bool is_between = at_least > 1 && at_least < should.size();
    if (is_between && !FitsAtLeast(at_least, should)) {
      return kit_.Fail(
          "filter_too_large",
          fmt::format("{}: minimum_should_match of so many clauses is too many combinations",
                      where));
    }
    if (at_least == should.size()) {
      std::move(should.begin(), should.end(), std::back_inserter(all));
    } else if (at_least > 0) {
      all.push_back(AtLeast(at_least, should));
    }
    if (!none.empty()) all.push_back({None{std::move(none)}});
    return AllOf(std::move(all));
  }

  // How many of the `should` clauses have to hold.
  std::size_t LeastOf(const base::Json& body, const std::string& where, std::size_t clauses,
                      bool has_required) {
    const auto it = body.find("minimum_should_match");
    if (it == body.end()) return clauses > 0 && !has_required ? 1 : 0;
    const auto given = IntegerOf(*it);
    const bool is_count = given && *given >= 0 && *given <= static_cast<int>(kFilterClausesMax);
    const std::size_t count = is_count ? static_cast<std::size_t>(*given) : 0;
    if (is_count && (count <= 1 || count <= clauses)) return count;
    Invalid(where, "minimum_should_match is a number from 0 to that of the should clauses");
    return 0;
  }

  Filter ReadEverything(const base::Json& body, const std::string& where) {
    if (!body.empty()) return kit_.Unsupported(body.begin().key(), where);
    return {};
  }

  // {field: short} or {field: {"<long_name>": value, ..}}: the field, and what is said of it.
  // `options` may have further members, which `accept` checks.
  struct Said {
    const Field* field = nullptr;
    const base::Json* value = nullptr;
    bool every = false;  // operator: and
  };
  Said ReadSaid(const base::Json& body, const std::string& where, std::string_view long_name) {
    Said said;
    if (body.size() != 1) {
      Invalid(where, "this names one field");
      return said;
    }
    said.field = kit_.FieldAt(body.begin().key(), where);
    said.value = &body.begin().value();
    if (said.field == nullptr || !said.value->is_object()) return said;
    const base::Json& members = *said.value;
    said.value = nullptr;
    for (const auto& [key, value] : members.items()) {
      if (key == long_name) {
        said.value = &value;
      } else if (key == "operator" && where.ends_with(".match")) {
        said.every = value == "and" || value == "AND";
        if (!said.every && value != "or" && value != "OR") {
          Invalid(where, "operator is \"or\" or \"and\"");
        }
      } else {
        kit_.Unsupported(key, where + "." + body.begin().key());
      }
    }
    if (said.value == nullptr) Invalid(where, fmt::format("{} is missing", long_name));
    return said;
  }

  Filter ReadTerm(const base::Json& body, const std::string& where) {
    const Said said = ReadSaid(body, where, "value");
    return kit_.failed() ? Filter{} : kit_.Equal(*said.field, *said.value, where);
  }

  Filter ReadTerms(const base::Json& body, const std::string& where) {
    if (body.size() != 1) return Invalid(where, "this names one field");
    const Field* field = kit_.FieldAt(body.begin().key(), where);
    return field == nullptr ? Filter{} : kit_.AnyOf(*field, body.begin().value(), where);
  }

  Filter ReadRange(const base::Json& body, const std::string& where) {
    if (body.size() != 1 || !body.begin().value().is_object()) {
      return Invalid(where, "this names one field, and its bounds in an object");
    }
    Range range{kit_.FieldAt(body.begin().key(), where), {}, {}};
    if (range.field == nullptr) return {};
    const std::string at = where + "." + body.begin().key();
    for (const auto& [key, value] : body.begin().value().items()) {
      if (key != "gt" && key != "gte" && key != "lt" && key != "lte") {
        return kit_.Unsupported(key, at);
      }
      kit_.AddBound(key, value, at, &range);
      if (kit_.failed()) return {};
    }
    return kit_.InRange(std::move(range), at);
  }

  Filter ReadExists(const base::Json& body, const std::string& where) {
    for (const auto& [key, value] : body.items()) {
      if (key != "field") return kit_.Unsupported(key, where);
    }
    if (body.empty() || !body["field"].is_string()) return Invalid(where, "field is missing");
    const Field* field = kit_.FieldAt(body["field"].get<std::string>(), where);
    return field == nullptr ? Filter{} : kit_.WithValue(*field);
  }

  Filter ReadPrefix(const base::Json& body, const std::string& where) {
    const Said said = ReadSaid(body, where, "value");
    return kit_.failed() ? Filter{} : kit_.BeginsWith(*said.field, *said.value, where);
  }

  Filter ReadMatch(const base::Json& body, const std::string& where) {
    const Said said = ReadSaid(body, where, "query");
    return kit_.failed() ? Filter{} : kit_.HasWords(*said.field, *said.value, said.every, where);
  }

  Filter ReadPhrase(const base::Json& body, const std::string& where) {
    const Said said = ReadSaid(body, where, "query");
    return kit_.failed() ? Filter{} : kit_.HasPhrase(*said.field, *said.value, where);
  }

  Filter ReadNested(const base::Json& body, const std::string& where) {
    for (const auto& [key, value] : body.items()) {
      if (key != "path" && key != "query") return kit_.Unsupported(key, where);
    }
    if (body.size() != 2 || !body["path"].is_string()) {
      return Invalid(where, "this needs a path and a query");
    }
    return kit_.Within(body["path"].get<std::string>(), where,
                       [&] { return ReadClause(body["query"], where + ".query"); });
  }

  Filter ReadConstantScore(const base::Json& body, const std::string& where) {
    for (const auto& [key, value] : body.items()) {
      if (key != "filter") return kit_.Unsupported(key, where);
    }
    if (body.empty()) return Invalid(where, "filter is missing");
    return ReadClause(body["filter"], where + ".filter");
  }

  FilterHelpers kit_;
};

const DslReader::Kind DslReader::kKinds[] = {
    {"match_all", &DslReader::ReadEverything},
    {"bool", &DslReader::ReadBool},
    {"term", &DslReader::ReadTerm},
    {"terms", &DslReader::ReadTerms},
    {"range", &DslReader::ReadRange},
    {"exists", &DslReader::ReadExists},
    {"prefix", &DslReader::ReadPrefix},
    {"match", &DslReader::ReadMatch},
    {"match_phrase", &DslReader::ReadPhrase},
    {"nested", &DslReader::ReadNested},
    {"constant_score", &DslReader::ReadConstantScore},
};

const DslReader::Kind* DslReader::FindKind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace

FilterRead ReadDslFilter(const base::Json& filters, const Fields& fields) {
  return DslReader(fields).Read(filters);
}

}  // namespace vedette::domain::search
