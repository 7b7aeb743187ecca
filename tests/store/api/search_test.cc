// POST /search/filter-field-values and GET /search/filter-capabilities: every field, limit and
// error.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <pqxx/pqxx>

#include "config/search_config.h"
#include "store/search/field_values.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/search_cases.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Mode;
using testing::HasSubstr;

constexpr const char* kPath = "/search/filter-field-values";

class ApiSearch : public ApiTest {
 public:
  explicit ApiSearch(const config::Environment& environment = {}, const Adjust& adjust = nullptr)
      : ApiTest(environment, adjust) {}

  void Import(const std::optional<std::string>& org_id, const std::vector<const char*>& lines,
              Mode mode = Mode::kCompany) {
    store::ImportTarget target{base::Uuid::V4(), mode, std::nullopt};
    if (org_id) target.org_id = base::Uuid::Parse(*org_id);
    std::vector<domain::search::Document> documents;
    for (const char* line : lines) {
      documents.push_back(std::get<domain::search::Document>(domain::search::ReadDocument(line)));
    }
    store::Session session(config.database, {.name = "import"}, clock, metrics, log);
    const auto count = static_cast<std::int64_t>(documents.size());
    store::TakeDocuments(session, target, 0, count, std::move(documents));
    store::FinishImport(session, clock, target, fields.of(mode), std::chrono::minutes(1), {});
  }

  void ImportCompanies() {
    Import(std::nullopt, {R"({"id": "1", "industry": "steel", "employee_count": 10,
                              "locations": [{"country": "DE"}, {"country": "FR"}]})",
                          R"({"id": "2", "industry": "steel", "employee_count": 10})",
                          R"({"id": "3", "industry": ["wood", "steel", "wood"]})",
                          R"({"id": "4", "name": "Acme Steel", "industry": null})"});
  }
  Reply Values(const Json& body) { return Ask("POST", kPath, body); }
  std::string Error(const Json& body) {
    const Reply reply = Values(body);
    return std::to_string(reply.status) + " " + reply.error();
  }
};

TEST_F(ApiSearch, TheTopValuesOfAFieldWithEveryMember) {
  ImportCompanies();
  Reply reply = Values({{"field", "industry"}, {"mode", "company"}, {"top_k", 1}});
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_GE(reply.body["request_duration_ms"].get<int>(), 0);
  reply.body.erase("request_duration_ms");
  EXPECT_EQ(reply.body, base::ParseJsonOrThrow(R"({
    "field": "industry", "canonical_field": "industry", "value_type": "keyword",
    "supports_top_values": true, "supports_exact_filter_snippet": true,
    "total_scoped_documents": 4, "missing_count": 1, "other_count": 1, "approximate": false,
    "mode": "company", "aggregation_field": "industry", "nested_path": null,
    "related_fields": ["industries", "naics_codes"], "preferred_for_exact_match": true,
    "values": [{"count": 3, "percent_of_scope": 0.75, "value": "steel",
                "filter_snippet": {"term": {"industry": "steel"}}}]})"));
}

TEST_F(ApiSearch, AnAliasATypeAndANestedField) {
  ImportCompanies();
  Reply reply = Values({{"field", "name.keyword"}});
  EXPECT_EQ(reply.body["field"], "name.keyword");
  EXPECT_EQ(reply.body["canonical_field"], "name");
  EXPECT_EQ(reply.body["aggregation_field"], "name.keyword");
  EXPECT_EQ(reply.body["value_type"], "keyword");
  EXPECT_EQ(reply.body["values"][0]["percent_of_scope"], 0.25);
  reply = Values({{"field", "employee_count"}});
  EXPECT_EQ(reply.body["value_type"], "long");
  EXPECT_EQ(reply.body["values"][0]["value"], "10") << "a value is a string";
  EXPECT_EQ(reply.body["values"][0]["filter_snippet"], (Json{{"term", {{"employee_count", 10}}}}));
  reply = Values({{"field", "locations.country"}});
  EXPECT_EQ(reply.body["nested_path"], "locations");
  EXPECT_EQ(reply.body["values"].size(), 2U);
  EXPECT_EQ(reply.body["values"][0]["value"], "DE") << "equal counts: by the value";
}

TEST_F(ApiSearch, AValueIsATextAndItsSnippetHasTheFieldsType) {
  Import(
      std::nullopt,
      {R"({"id": "1", "is_public": true, "revenue_usd": 2.5, "updated_at": "2024-05-31T09:30:00Z",
              "funding_rounds": {"date": "2024-05", "amount_usd": 1e3}})",
       R"({"id": "2", "is_public": "yes", "revenue_usd": "much", "updated_at": 5})"});
  const auto only = [&](const char* field) {
    const Reply reply = Values({{"field", field}});
    EXPECT_EQ(reply.body["missing_count"], 1) << reply.raw.body;
    EXPECT_EQ(reply.body["values"].size(), 1U) << reply.raw.body;
    const Json& value = reply.body["values"][0];
    const Reply again = Values({{"field", field}, {"filters", value["filter_snippet"]}});
    EXPECT_EQ(again.body["total_scoped_documents"], value["count"]) << again.raw.body;
    return reply.body["value_type"].get<std::string>() + " " + base::DumpJson(value["value"]) +
           " " + base::DumpJson(value["filter_snippet"]);
  };
  EXPECT_EQ(only("is_public"), R"(boolean "true" {"term":{"is_public":true}})");
  EXPECT_EQ(only("revenue_usd"), R"(double "2.5" {"term":{"revenue_usd":2.5}})");
  EXPECT_EQ(only("updated_at"),
            R"(date "2024-05-31T09:30:00Z" {"term":{"updated_at":"2024-05-31T09:30:00Z"}})");
  EXPECT_EQ(only("funding_rounds.amount_usd"),
            R"(double "1000" {"nested":{"path":"funding_rounds","query":)"
            R"({"term":{"funding_rounds.amount_usd":1000}}}})");
  EXPECT_EQ(only("funding_rounds.date"),
            R"(date "2024-05" {"nested":{"path":"funding_rounds","query":)"
            R"({"term":{"funding_rounds.date":"2024-05"}}}})");
}

TEST_F(ApiSearch, FiltersScopeAndWithBothADocumentMeetsBoth) {
  ImportCompanies();
  const Json steel = {{"term", {{"industry", "steel"}}}};
  EXPECT_EQ(Values({{"field", "industry"}, {"filters", steel}}).body["total_scoped_documents"], 3);
  const Json ten = {{"employee_count", {{"$gte", 10}}}};
  EXPECT_EQ(Values({{"field", "industry"}, {"simple_filters", ten}}).body["total_scoped_documents"],
            2);
  const Reply both = Values({{"field", "industry"},
                             {"filters", {{"query", {{"term", {{"industry", "wood"}}}}}}},
                             {"simple_filters", ten}});
  EXPECT_EQ(both.body["total_scoped_documents"], 0);
  EXPECT_EQ(both.body["values"], Json::array());
  EXPECT_EQ(Values({{"field", "industry"}, {"filters", nullptr}, {"simple_filters", nullptr}})
                .body["total_scoped_documents"],
            4);
  // What a snippet says selects as many documents as it counted.
  const Reply listed = Values({{"field", "locations.country"}});
  for (const Json& value : listed.body["values"]) {
    const Reply again = Values({{"field", "industry"}, {"filters", value["filter_snippet"]}});
    EXPECT_EQ(again.body["total_scoped_documents"], value["count"]) << value;
  }
}

// Nothing else would be in time with a million documents.
TEST_F(ApiSearch, WithoutAConditionTheAnswerIsWhatTheImportHasCounted) {
  ImportCompanies();
  Sql("delete from search_entity");
  for (const char* filters :
       {"{}", R"({"filters": null, "simple_filters": null})", R"({"filters": {}})",
        R"({"simple_filters": {}})", R"({"filters": {}, "simple_filters": {}})",
        R"({"filters": {"query": {"match_all": {}}}})", R"({"filters": {"bool": {}}})"}) {
    Json body = base::ParseJsonOrThrow(filters);
    body["field"] = "industry";
    const Reply reply = Values(body);
    EXPECT_EQ(reply.body["total_scoped_documents"], 4) << filters << reply.raw.body;
    EXPECT_EQ(reply.body["values"].size(), 2U) << filters;
  }
}

TEST_F(ApiSearch, G10_WhatTheImportHasCountedWaitsForNoCountOfDocuments) {
  ImportCompanies();
  search_pool.Stop();  // as if every one of its connections counted for somebody else
  EXPECT_EQ(Values({{"field", "industry"}}).body["total_scoped_documents"], 4);
}

TEST_F(ApiSearch, TwentyFiveValuesAreListedUnlessMoreAreAskedFor) {
  std::vector<std::string> lines;
  for (int i = 0; i < 120; ++i) {
    const std::string number = std::to_string(i);
    lines.push_back(R"({"id": ")" + number + R"(", "industry": "i)" + number + R"("})");
  }
  std::vector<const char*> texts;
  for (const std::string& line : lines) texts.push_back(line.c_str());
  Import(std::nullopt, texts);
  const Reply usual = Values({{"field", "industry"}});
  ASSERT_EQ(usual.status, 200) << usual.raw.body;
  EXPECT_EQ(usual.body["mode"], "company");
  EXPECT_EQ(usual.body["values"].size(), 25U);
  EXPECT_EQ(usual.body["other_count"], 95);
  EXPECT_EQ(usual.body["values"][0]["percent_of_scope"], 0.008333) << "six decimals";
  EXPECT_EQ(usual.body["values"][0]["value"], "i0");
  EXPECT_EQ(usual.body["values"][2]["value"], "i10") << "equal counts: by the value";
  const Reply most = Values({{"field", "industry"}, {"top_k", 100}});
  EXPECT_EQ(most.body["values"].size(), 100U);
  EXPECT_EQ(most.body["other_count"], 20);
}

TEST_F(ApiSearch, ACountIsFreeAndNeedsNoFeature) {
  ImportCompanies();
  Sql("update organisation set features = '{}'");
  Sql("update account set balance_mc = 0");
  const std::string entries = Sql("select count(*) from credit_entry");
  EXPECT_EQ(Values({{"field", "industry"}}).status, 200);
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities").status, 200);
  EXPECT_EQ(Sql("select count(*) from credit_entry"), entries);
}

// The injection corpus through the route: as a name it is none, as a value it is one.
TEST_F(ApiSearch, ANastyTextIsNoNameNoOperatorAndAValueLikeAnyOther) {
  ImportCompanies();
  for (const std::string& text : NastyTexts()) {
    if (!text.empty()) {
      EXPECT_EQ(Error({{"field", text}}), "400 unknown_field") << text;
    }
    const Json all{{"match_all", Json::object()}};
    for (const Json& clause :
         {Json{{text, Json::object()}}, Json{{"term", {{text, "a"}}}},
          Json{{"exists", {{"field", text}}}}, Json{{"range", {{"industry", {{text, "a"}}}}}},
          Json{{"bool", {{text, all}}}}, Json{{"bool", {{"minimum_should_match", text}}}},
          Json{{"nested", {{"path", text}, {"query", all}}}},
          Json{{"match", {{"name", {{"query", "a"}, {"operator", text}}}}}}}) {
      EXPECT_EQ(Values({{"field", "industry"}, {"filters", clause}}).status, 400) << clause;
    }
    for (const Json& simple : {Json{{text, "a"}}, Json{{"industry", {{text, "a"}}}},
                               Json{{"locations", {{"$elemMatch", {{text, "a"}}}}}}}) {
      EXPECT_EQ(Values({{"field", "industry"}, {"simple_filters", simple}}).status, 400) << simple;
    }
    const Reply value =
        Values({{"field", "industry"}, {"filters", {{"term", {{"industry", text}}}}}});
    EXPECT_EQ(value.status, 200) << value.raw.body;
    EXPECT_EQ(value.body["total_scoped_documents"], 0) << text;
  }
  EXPECT_EQ(Values({{"field", "industry"}}).body["total_scoped_documents"], 4) << "nothing is lost";
}

TEST_F(ApiSearch, G8_DocumentsOfAnotherOrganisationAreInNoCount) {
  const Tenant other = NewTenant("other");
  Import(std::nullopt, {R"({"id": "1", "industry": "steel"})"});
  Import(other.org_id,
         {R"({"id": "1", "industry": "gold"})", R"({"id": "2", "industry": "steel"})"});
  for (const Json& body :
       {Json{{"field", "industry"}},
        Json{{"field", "industry"}, {"simple_filters", {{"industry", {{"$exists", true}}}}}}}) {
    EXPECT_EQ(Values(body).body["total_scoped_documents"], 1);
    const Reply theirs = Ask("POST", kPath, body, {{"x-api-key", other.key}});
    EXPECT_EQ(theirs.body["total_scoped_documents"], 3);
    EXPECT_EQ(theirs.body["values"].size(), 2U);
  }
}

// Whatever a filter says: what is always true, what names the others' value, and a document that
// claims to be of somebody else.
TEST_F(ApiSearch, G8_NoFilterReachesDocumentsOfAnotherOrganisation) {
  const Tenant other = NewTenant("other");
  const std::string claims =
      R"({"id": "2", "industry": "gold", "org_id": ")" + acme.org_id + R"("})";
  Import(acme.org_id, {R"({"id": "1", "industry": "steel"})"});
  Import(other.org_id, {claims.c_str()});
  const auto expect_own = [&](const char* member, const char* filter) {
    const Reply reply = Values({{"field", "industry"}, {member, base::ParseJsonOrThrow(filter)}});
    EXPECT_EQ(reply.status, 200) << filter << reply.raw.body;
    EXPECT_LE(reply.body["total_scoped_documents"].get<int>(), 1) << filter;
    for (const Json& value : reply.body["values"]) EXPECT_EQ(value["value"], "steel") << filter;
  };
  for (const char* filter :
       {R"({"match_all": {}})", R"({"bool": {}})", R"({"bool": {"must_not": []}})",
        R"({"bool": {"should": [{"match_all": {}}, {"term": {"industry": "gold"}}]}})",
        R"({"bool": {"must_not": {"term": {"industry": "steel"}}}})",
        R"({"bool": {"must_not": {"bool": {"must_not": {"match_all": {}}}}}})",
        R"({"exists": {"field": "industry"}})", R"({"prefix": {"industry": ""}})",
        R"({"range": {"industry": {"gte": ""}}})", R"({"term": {"industry": "gold"}})"}) {
    expect_own("filters", filter);
  }
  for (const char* filter :
       {"{}", R"({"$nor": []})", R"({"$or": [{}]})", R"({"$not": {"industry": "steel"}})",
        R"({"industry": {"$ne": "steel"}})", R"({"industry": {"$nin": []}})",
        R"({"industry": "gold"})"}) {
    expect_own("simple_filters", filter);
  }
  for (const char* name : {"org_id", "import_id", "id", "doc", "search_entity.import_id"}) {
    EXPECT_EQ(Error({{"field", name}}), "400 unknown_field") << name;
    EXPECT_EQ(Error({{"field", "industry"}, {"simple_filters", {{name, other.org_id}}}}),
              "400 unknown_field")
        << name;
  }
  const Json body{{"field", "industry"}};
  EXPECT_EQ(Ask("POST", kPath, body, {{"x-api-key", other.key}}).body["values"][0]["value"],
            "gold");
}

TEST_F(ApiSearch, PeopleAreOtherDocumentsWithOtherFields) {
  ImportCompanies();
  Import(std::nullopt, {R"({"id": "1", "seniority": "vp"})"}, Mode::kPeople);
  const Reply reply = Values({{"field", "seniority"}, {"mode", "people"}});
  EXPECT_EQ(reply.body["mode"], "people");
  EXPECT_EQ(reply.body["total_scoped_documents"], 1);
  EXPECT_EQ(Error({{"field", "seniority"}}), "400 unknown_field");
}

TEST_F(ApiSearch, AnEmptyStoreIsNoError) {
  const Reply reply = Values({{"field", "industry"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["total_scoped_documents"], 0);
  EXPECT_EQ(reply.body["values"], Json::array());
}

TEST_F(ApiSearch, WhatHasTheWrongFormIsA422) {
  const auto loc = [&](const Json& body) {
    const Reply reply = Values(body);
    EXPECT_EQ(reply.status, 422) << body;
    return reply.loc() + " " + reply.type();
  };
  EXPECT_EQ(loc(Json::object()), R"(["body","field"] missing)");
  EXPECT_EQ(loc({{"field", ""}}), R"(["body","field"] string_too_short)");
  EXPECT_EQ(loc({{"field", std::string(201, 'x')}}), R"(["body","field"] string_too_long)");
  EXPECT_EQ(loc({{"field", 5}}), R"(["body","field"] string_type)");
  EXPECT_EQ(loc({{"field", "name"}, {"mode", "cars"}}), R"(["body","mode"] enum)");
  EXPECT_EQ(loc({{"field", "name"}, {"top_k", 0}}), R"(["body","top_k"] greater_than_equal)");
  EXPECT_EQ(loc({{"field", "name"}, {"top_k", 101}}), R"(["body","top_k"] less_than_equal)");
  EXPECT_EQ(loc({{"field", "name"}, {"top_k", "25"}}), R"(["body","top_k"] int_type)");
  EXPECT_EQ(loc({{"field", "name"}, {"mode", 1}}), R"(["body","mode"] enum)");
  EXPECT_EQ(loc({{"field", "name"}, {"filters", "x"}}), R"(["body","filters"] dict_type)");
  EXPECT_EQ(loc({{"field", "name"}, {"simple_filters", Json::array()}}),
            R"(["body","simple_filters"] dict_type)");
  EXPECT_EQ(loc({{"field", "name"}, {"size", 5}}), R"(["body","size"] extra_forbidden)");
  EXPECT_EQ(Error({{"field", std::string(200, 'x')}}), "400 unknown_field") << "of a lawful length";
}

TEST_F(ApiSearch, AFieldThatHasWordsAloneHasNoTopValuesAndSaysSo) {
  Import(std::nullopt, {R"({"id": "1", "description": "steel", "industry": "steel"})",
                        R"({"id": "2", "description": "wood"})", R"({"id": "3"})"});
  Reply reply = Values({{"field", "description"}});
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["supports_top_values"], false);
  EXPECT_EQ(reply.body["supports_exact_filter_snippet"], false);
  EXPECT_EQ(reply.body["aggregation_field"], nullptr);
  EXPECT_EQ(reply.body["values"], Json::array());
  EXPECT_EQ(reply.body["total_scoped_documents"], 3);
  EXPECT_EQ(reply.body["missing_count"], 1);
  reply = Values({{"field", "description"}, {"simple_filters", {{"industry", "steel"}}}});
  EXPECT_EQ(reply.body["total_scoped_documents"], 1);
  EXPECT_EQ(reply.body["missing_count"], 0);
}

TEST_F(ApiSearch, WhatAFilterMayNotSayIsA400) {
  const auto with = [](const Json& filters) {
    return Json{{"field", "industry"}, {"filters", filters}};
  };
  EXPECT_EQ(Error({{"field", "industri"}}), "400 unknown_field");
  EXPECT_THAT(Values({{"field", "industri"}}).message(), HasSubstr("industry"));
  EXPECT_EQ(Error(with({{"script", Json::object()}})), "400 unsupported_clause");
  EXPECT_EQ(Error(with({{"term", {{"industry", 5}}}})), "400 invalid_filter");
  EXPECT_EQ(Error(with({{"terms", {{"employee_count", std::vector<int>(1025, 1)}}}})),
            "400 filter_too_large");
  EXPECT_EQ(Error({{"field", "industry"}, {"simple_filters", {{"$sort", 1}}}}),
            "400 unsupported_clause");
  EXPECT_EQ(Error(with({{"term", {{"revenue_usd", "NaN"}}}})), "400 invalid_filter");
  for (const char* number : {"NaN", "Infinity", "1e999"}) {
    net::ServerRequest request = Request("POST", kPath, {});
    request.body = R"({"field": "industry", "filters": {"term": {"revenue_usd": )" +
                   std::string(number) + "}}}";
    EXPECT_EQ(AskRaw(std::move(request)).error(), "malformed_json") << number;
  }
}

TEST_F(ApiSearch, ACountThatCannotBeMadeIsA503) {
  ImportCompanies();
  search_pool.Stop();
  const Json steel = {{"industry", "steel"}};
  const Reply reply = Values({{"field", "industry"}, {"simple_filters", steel}});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "search_upstream_error");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
}

class ApiSearchInAHurry : public ApiSearch {
 public:
  ApiSearchInAHurry()
      : ApiSearch({},
                  [](config::Config& c) { c.search.timeout_ms = std::chrono::milliseconds(20); }) {}
};

TEST_F(ApiSearchInAHurry, ACountThatTakesTooLongIsGivenUp) {
  ImportCompanies();
  pqxx::connection connection(database.url());
  pqxx::work work(connection);
  work.exec("lock table search_entity in access exclusive mode");
  const Reply reply = Values({{"field", "industry"}, {"simple_filters", {{"industry", "steel"}}}});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "search_timeout");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
}

class ApiSearchNowhere : public ApiSearch {
 public:
  ApiSearchNowhere() : ApiSearch({{"VEDETTE_SEARCH_BACKEND", ""}}) {}
};

TEST_F(ApiSearchNowhere, WithoutABackendNothingIsCounted) {
  const Reply reply = Values({{"field", "industry"}});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "search_not_configured");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  EXPECT_EQ(Error({{"field", "industri"}}), "400 unknown_field");
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities").status, 200);
}

TEST_F(ApiSearch, CapabilitiesNameFieldsLimitsAndOperators) {
  const Reply reply = Ask("GET", "/search/filter-capabilities?mode=people&refresh=true");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["mode"], "people");
  EXPECT_EQ(reply.body["index_name"], "people");
  EXPECT_EQ(reply.body["nested_paths"], (Json{"education", "experience"}));
  EXPECT_EQ(reply.body["limits"], base::ParseJsonOrThrow(R"({
    "max_query_depth": 16, "max_clause_count": 256, "max_terms_per_clause": 1024,
    "max_sort_clauses": 0, "max_string_length": 1024})"));
  EXPECT_EQ(reply.body["cache_ttl_seconds"], 0);
  EXPECT_EQ(reply.body["mapping_hash"], fields.of(Mode::kPeople).hash());
  EXPECT_EQ(reply.body["simple_query_operators"],
            (Json{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$match",
                  "$phrase", "$and", "$or", "$not", "$nor", "$elemMatch", "$search"}));
  EXPECT_GT(reply.body["generated_at_epoch_ms"].get<std::int64_t>(), 0);
  std::vector<std::string> names;
  for (const Json& field : reply.body["fields"]) names.push_back(field["field"]);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << "by name";
  std::map<std::string, Json> by_name;
  for (const Json& field : reply.body["fields"]) by_name[field["field"]] = field;
  EXPECT_EQ(by_name.at("experience.title"), base::ParseJsonOrThrow(R"({
    "field": "experience.title", "field_type": "text", "nested_path": "experience",
    "queryable": true, "sortable": false, "rangeable": true, "sort_field": null,
    "aggregation_field": "experience.title.keyword", "value_type": "keyword",
    "supports_top_values": true, "supports_exact_filter_snippet": true,
    "related_fields": ["job_title"], "preferred_for_exact_match": false})"));
  const Json& words_alone = by_name.at("summary");
  for (const char* name : {"supports_top_values", "supports_exact_filter_snippet", "rangeable"}) {
    EXPECT_EQ(words_alone[name], false) << name;
  }
  EXPECT_EQ(words_alone["aggregation_field"], nullptr);
  EXPECT_EQ(words_alone["nested_path"], nullptr);
  EXPECT_EQ(by_name.at("open_to_work")["rangeable"], false) << "true and false have no order";
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities").body["mode"], "company");
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities?mode=cars").status, 422);
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities?refresh=maybe").status, 422);
  EXPECT_EQ(Ask("GET", "/search/filter-capabilities?mod=people").status, 422);
}

}  // namespace
}  // namespace vedette::test
