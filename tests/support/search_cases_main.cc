// Prints random cases of searches, and what is right, for tests in other languages: JSON, an object
// a line. The first line has the fields, every other line documents with cases about them.
//   search_cases GRAMMAR SEED GROUPS CASES     GRAMMAR: dsl or simple; CASES: of each group
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"
#include "domain/search/opensearch.h"
#include "tests/support/search_cases.h"

namespace {

using namespace vedette;
using base::Json;
using domain::search::Field;
using domain::search::Fields;
using domain::search::Filter;

constexpr int kDocuments = 30;
constexpr const char* kOrg = "a0000000-0000-4000-8000-000000000001";
constexpr const char* kOtherOrg = "a0000000-0000-4000-8000-000000000002";
constexpr const char* kOrgField = "org_id";

Json FieldsJson(const Fields& fields) {
  Json json = Json::object();
  for (const Field& field : fields.all()) {
    json[field.name] = {{"type", domain::search::FieldTypeName(field.type)},
                        {"nested_path", field.nested_path},
                        {"aggregation_field", field.aggregation_field}};
  }
  return {{"fields", std::move(json)}, {"org_id", kOrg}};
}

// Documents of everybody, of the organisation, and of another one.
std::vector<Json> Documents(test::SearchCases& cases) {
  std::vector<Json> documents;
  for (int i = 0; i < kDocuments; ++i) {
    documents.push_back(cases.PlainDocument(std::to_string(i)));
    if (cases.Chance(50)) documents.back()[kOrgField] = cases.Chance(50) ? kOrg : kOtherOrg;
  }
  return documents;
}

bool IsSeen(const Json& document) {
  return !document.contains(kOrgField) || document[kOrgField] == Json(kOrg);
}

Json CaseJson(test::SearchCases& cases, bool dsl, const Fields& fields,
              const std::vector<Json>& documents) {
  const Json given = dsl ? cases.Dsl() : cases.Simple();
  const auto read = dsl ? domain::search::ReadDslFilter(given, fields)
                        : domain::search::ReadSimpleFilter(given, fields);
  const Filter& filter = std::get<Filter>(read);
  const Field& field = cases.CountedField(fields);
  const int values_max = cases.Chance(50) ? 100 : 3;
  std::vector<Json> seen;
  std::copy_if(documents.begin(), documents.end(), std::back_inserter(seen), IsSeen);
  Json matched = Json::array();
  for (const Json& document : documents) {
    if (domain::search::Evaluate(filter, document)) matched.push_back(document["id"]);
  }
  const auto top = domain::search::CountValues(field, filter, seen, 1000);
  Json values = Json::object();
  for (const auto& value : top.values) values[value.value] = value.count;
  return {{"filter", given},
          {"matched", std::move(matched)},
          {"field", field.name},
          {"body", domain::search::TopValuesBody(
                       field, filter, domain::search::Tenant{kOrgField, kOrg}, values_max)},
          {"values_max", values_max},
          {"total", top.total},
          {"missing", top.missing},
          {"values", std::move(values)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: search_cases dsl|simple SEED GROUPS CASES\n";
    return 2;
  }
  const bool dsl = std::string(argv[1]) == "dsl";
  test::SearchCases cases(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
  const auto catalogue = test::SmallCatalogue();
  const Fields& fields = catalogue.of(domain::search::Mode::kCompany);
  std::cout << base::DumpJson(FieldsJson(fields)) << '\n';
  for (int groups = std::atoi(argv[3]); groups > 0; --groups) {
    const auto documents = Documents(cases);
    Json made = Json::array();
    for (int left = std::atoi(argv[4]); left > 0; --left) {
      made.push_back(CaseJson(cases, dsl, fields, documents));
    }
    std::cout << base::DumpJson({{"documents", documents}, {"cases", std::move(made)}}) << '\n';
  }
  return 0;
}
