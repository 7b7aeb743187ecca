// Query bodies for OpenSearch and Elasticsearch.
#include "domain/search/opensearch.h"

#include <gmock/gmock.h>

#include "tests/support/in_full.h"
#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Filter;
using domain::search::FilterClause;

class DslBody : public FilterTest {
 public:
  Filter Tree(Grammar grammar, const std::string& text) const {
    return std::get<Filter>(Read(grammar, text));
  }
  std::string Printed(const std::string& simple) const {
    return base::DumpJson(FilterClause(Tree(Grammar::kSimple, simple)));
  }
};

TEST_F(DslBody, EachPartOfATree) {
  EXPECT_EQ(Printed("{}"), R"({"match_all":{}})");
  EXPECT_EQ(Printed(R"({"title": "a"})"), R"({"term":{"title.keyword":{"value":"a"}}})");
  EXPECT_EQ(Printed(R"({"size": {"$in": [1, 2]}})"), R"({"terms":{"size":[1,2]}})");
  EXPECT_EQ(Printed(R"({"size": {"$elemMatch": {"$gt": 1, "$lte": 2.0}}})"),
            R"({"range":{"size":{"gt":1,"lte":2}}})");
  EXPECT_EQ(Printed(R"({"note": {"$match": "Deep sea"}})"),
            R"({"match":{"note":{"query":"deep sea","operator":"or"}}})");
  EXPECT_EQ(Printed(R"({"title": {"$phrase": "Deep sea"}})"),
            R"({"match_phrase":{"title":{"query":"deep sea"}}})");
  EXPECT_EQ(Printed(R"({"jobs.grade": {"$exists": false}})"),
            R"({"bool":{"must_not":[{"nested":{"path":"jobs","query":{"bool":{"filter":)"
            R"([{"exists":{"field":"jobs.grade"}}]}}}}]}})");
  EXPECT_EQ(Printed(R"({"$or": [{"open": true}]})"),
            R"({"bool":{"should":[{"term":{"open":{"value":true}}}],"minimum_should_match":1}})");
  EXPECT_EQ(Printed(R"({"$or": []})"), R"({"bool":{"must_not":[{"match_all":{}}]}})");
}

// What is printed, read back, is the same filter: so a body says what the tree says, and has no
// clause that the reader does not know.
TEST_F(DslBody, APrintedFilterIsReadBackAsItself) {
  SearchCases cases(2);
  std::vector<Json> documents;
  for (int i = 0; i < 50; ++i) documents.push_back(cases.Document(std::to_string(i)));
  const int filters = InFull(2000, 500);
  int taken = 0;
  for (int i = 0; i < filters; ++i) {
    const bool dsl = cases.Chance(50);
    const Filter tree = Tree(dsl ? Grammar::kDsl : Grammar::kSimple,
                             base::DumpJson(dsl ? cases.Dsl() : cases.Simple()));
    const Json clause = FilterClause(tree);
    const auto again = domain::search::ReadDslFilter(clause, fields());
    const auto* read = std::get_if<Filter>(&again);
    if (read == nullptr) {  // printing may wrap clauses once more than the reader takes
      EXPECT_EQ(std::get<domain::search::FilterError>(again).code, "filter_too_large") << clause;
      continue;
    }
    ++taken;
    for (const Json& document : documents) {
      ASSERT_EQ(domain::search::Evaluate(*read, document), domain::search::Evaluate(tree, document))
          << clause << document;
    }
  }
  EXPECT_GT(taken, filters * 95 / 100);
}

TEST_F(DslBody, ValuesAreCountedInDocuments) {
  const Json body = domain::search::TopValuesBody(*fields().Find("title"), {}, std::nullopt, 25);
  const Json without =
      domain::search::TopValuesBody(*fields().Find("title"), {}, std::nullopt, 25, {"a", "b"});
  EXPECT_EQ(without["query"]["bool"]["filter"], body["query"]["bool"]["filter"]);
  EXPECT_EQ(without["query"]["bool"]["must_not"],
            Json::parse(R"([{"ids": {"values": ["a", "b"]}}])"));
  EXPECT_FALSE(body["query"]["bool"].contains("must_not"));
  EXPECT_EQ(base::DumpJson(body),
            R"({"size":0,"track_total_hits":true,"query":{"bool":{"filter":[{"match_all":{}}]}},)"
            R"("aggs":{"values":{"terms":{"field":"title.keyword","size":25,)"
            R"("order":[{"_count":"desc"},{"_key":"asc"}]}},)"
            R"("missing":{"filter":{"bool":{"must_not":[{"exists":{"field":"title"}}]}}}}})");
  const Json nested =
      domain::search::TopValuesBody(*fields().Find("jobs.grade"), {}, std::nullopt, 3);
  EXPECT_EQ(base::DumpJson(nested["aggs"]["objects"]),
            R"({"nested":{"path":"jobs"},"aggs":{"values":{"terms":{"field":"jobs.grade","size":3,)"
            R"("order":[{"documents":"desc"},{"_key":"asc"}]},)"
            R"("aggs":{"documents":{"reverse_nested":{}}}}}})");
  EXPECT_EQ(base::DumpJson(nested["aggs"]["missing"]),
            R"({"filter":{"bool":{"must_not":[{"nested":{"path":"jobs","query":)"
            R"({"exists":{"field":"jobs.grade"}}}}]}}})");
}

// Whatever the filter says, the tenant's condition stands beside it, and only there.
TEST_F(DslBody, TheTenantIsAConditionOfItsOwn) {
  SearchCases cases(3);
  const domain::search::Tenant tenant{"org_id", "a6b1"};
  for (int i = 0; i < 200; ++i) {
    const Filter tree = Tree(Grammar::kDsl, base::DumpJson(cases.Dsl()));
    const Json body = domain::search::TopValuesBody(*fields().Find("tag"), tree, tenant, 5);
    const Json& conditions = body["query"]["bool"]["filter"];
    ASSERT_EQ(conditions.size(), 2U);
    EXPECT_EQ(base::DumpJson(conditions[0]),
              R"({"bool":{"should":[{"bool":{"must_not":[{"exists":{"field":"org_id"}}]}},)"
              R"({"term":{"org_id":{"value":"a6b1"}}}],"minimum_should_match":1}})");
    EXPECT_EQ(base::DumpJson(conditions[1]).find("org_id"), std::string::npos);
  }
}

}  // namespace
}  // namespace vedette::test
