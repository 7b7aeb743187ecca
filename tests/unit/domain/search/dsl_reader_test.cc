// Filters in the query language of search engines: what each clause means, and what is refused.
#include <gmock/gmock.h>

#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DslFilter : public FilterTest {
 public:
  bool Is(const std::string& filter, const std::string& document) const {
    return Holds(Grammar::kDsl, filter, document);
  }
  std::string Why(const std::string& filter) const { return Refusal(Grammar::kDsl, filter); }
};

TEST_F(DslFilter, AFilterIsAClauseOrAQueryWithOne) {
  EXPECT_TRUE(Is(R"({"term": {"tag": "a"}})", R"({"tag": "a"})"));
  EXPECT_TRUE(Is(R"({"query": {"term": {"tag": "a"}}})", R"({"tag": ["b", "a"]})"));
  EXPECT_FALSE(Is(R"({"query": {"term": {"tag": {"value": "a"}}}})", R"({"tag": "A"})"));
  EXPECT_TRUE(Is("{}", "{}"));
  EXPECT_TRUE(Is(R"({"match_all": {}})", "{}"));
}

TEST_F(DslFilter, WhatSaysNothingIsNoConditionAtAll) {
  const auto is_none = [this](Grammar grammar, const char* text) {
    const auto read = Read(grammar, text);
    const auto* filter = std::get_if<domain::search::Filter>(&read);
    return filter != nullptr && std::holds_alternative<domain::search::Everything>(filter->is);
  };
  for (const char* text :
       {"{}", R"({"match_all": {}})", R"({"query": {"match_all": {}}})", R"({"bool": {}})",
        R"({"bool": {"must": [], "filter": [{"match_all": {}}, {"bool": {"must": []}}]}})",
        R"({"constant_score": {"filter": {"match_all": {}}}})"}) {
    EXPECT_TRUE(is_none(Grammar::kDsl, text)) << text;
  }
  for (const char* text : {"{}", R"({"$and": []})", R"({"$and": [{}, {"$and": [{}]}]})"}) {
    EXPECT_TRUE(is_none(Grammar::kSimple, text)) << text;
  }
  EXPECT_FALSE(is_none(Grammar::kDsl, R"({"bool": {"must_not": {"match_all": {}}}})"));
  EXPECT_FALSE(is_none(Grammar::kSimple, R"({"$or": []})"));
  EXPECT_FALSE(is_none(Grammar::kSimple, R"({"$nor": [{}]})"));
}

TEST_F(DslFilter, ABoolCombines) {
  const std::string filter =
      R"({"bool": {"must": {"term": {"tag": "a"}}, "must_not": [{"term": {"size": 1}}],
          "filter": [{"exists": {"field": "open"}}]}})";
  EXPECT_TRUE(Is(filter, R"({"tag": "a", "open": false})"));
  EXPECT_FALSE(Is(filter, R"({"tag": "a", "open": false, "size": [2, 1]})"));
  EXPECT_FALSE(Is(filter, R"({"tag": "a"})"));
  EXPECT_TRUE(Is(R"({"bool": {}})", "{}"));
}

TEST_F(DslFilter, OneShouldHasToHoldUnlessSomethingElseMust) {
  const std::string two = R"("should": [{"term": {"tag": "a"}}, {"term": {"size": 1}}])";
  EXPECT_TRUE(Is("{\"bool\": {" + two + "}}", R"({"size": 1})"));
  EXPECT_FALSE(Is("{\"bool\": {" + two + "}}", "{}"));
  EXPECT_TRUE(Is("{\"bool\": {\"must\": {\"match_all\": {}}, " + two + "}}", "{}"));
  EXPECT_FALSE(Is("{\"bool\": {\"minimum_should_match\": 2, " + two + "}}", R"({"size": 1})"));
  EXPECT_TRUE(
      Is("{\"bool\": {\"minimum_should_match\": 2, " + two + "}}", R"({"size": 1, "tag": "a"})"));
  EXPECT_TRUE(Is("{\"bool\": {\"minimum_should_match\": 0, " + two + "}}", "{}"));
  EXPECT_TRUE(Is("{\"bool\": {\"minimum_should_match\": 0.0, " + two + "}}", "{}"));
  EXPECT_THAT(Why("{\"bool\": {\"minimum_should_match\": 3, " + two + "}}"),
              StartsWith("invalid_filter: filters.bool: minimum_should_match"));
  EXPECT_THAT(Why("{\"bool\": {\"minimum_should_match\": \"50%\", " + two + "}}"),
              StartsWith("invalid_filter: "));
  for (const char* number : {"-1", "0.5", "\"x\"", "null", "2", "[]"}) {  // of no clause at all
    EXPECT_THAT(Why("{\"bool\": {\"minimum_should_match\": " + std::string(number) + "}}"),
                StartsWith("invalid_filter: "))
        << number;
  }
}

TEST_F(DslFilter, AsManyShouldsHaveToHoldAsItSays) {
  // The document has the first `held` of the sizes 0 to 9.
  std::string clauses;
  for (int i = 0; i < 10; ++i) {
    clauses +=
        (i == 0 ? "" : ", ") + std::string(R"({"term": {"size": )") + std::to_string(i) + "}}";
  }
  for (int least = 0; least <= 10; ++least) {
    const std::string filter = "{\"bool\": {\"minimum_should_match\": " + std::to_string(least) +
                               ", \"should\": [" + clauses + "]}}";
    std::string sizes;
    for (int held = 0; held <= 10; ++held) {
      EXPECT_EQ(Is(filter, "{\"size\": [" + sizes + "]}"), held >= least) << held << " " << least;
      sizes += (held == 0 ? "" : ", ") + std::to_string(held);
    }
  }
}

TEST_F(DslFilter, TooManyCombinationsOfShouldsAreRefused) {
  const auto why = [&](int least, int count, const std::string& clause) {
    std::string clauses = clause;
    for (int i = 1; i < count; ++i) clauses += ", " + clause;
    return Why("{\"bool\": {\"minimum_should_match\": " + std::to_string(least) +
               ", \"should\": [" + clauses + "]}}");
  };
  const std::string one = R"({"term": {"size": 1}})";
  EXPECT_EQ(why(10, 20, one), "");
  EXPECT_EQ(why(2, 200, one), "");
  EXPECT_EQ(why(200, 200, one), "");
  EXPECT_THAT(why(64, 128, one), StartsWith("filter_too_large: filters.bool: "));
  // What is copied counts with all that is in it.
  const std::string inner = R"({"bool": {"minimum_should_match": 4, "should": [)" + one + ", " +
                            one + ", " + one + ", " + one + ", " + one + ", " + one + ", " + one +
                            "]}}";
  EXPECT_EQ(why(2, 4, inner), "");
  EXPECT_THAT(why(8, 16, inner), StartsWith("filter_too_large: "));
}

TEST_F(DslFilter, OneValueLiesWithinBothBounds) {
  const std::string filter = R"({"range": {"size": {"gt": 1, "lte": 5}}})";
  EXPECT_FALSE(Is(filter, R"({"size": 1})"));
  EXPECT_TRUE(Is(filter, R"({"size": 5})"));
  EXPECT_FALSE(Is(filter, R"({"size": [0, 9]})"));
  EXPECT_TRUE(Is(R"({"range": {"since": {"gte": "2024", "lt": "2025"}}})",
                 R"({"since": "2024-05-31T09:30:00Z"})"));
  EXPECT_TRUE(Is(R"({"range": {"title": {"gte": "b"}}})", R"({"title": "bee"})"));
  EXPECT_THAT(Why(R"({"range": {"open": {"gt": true}}})"), HasSubstr("no order"));
  EXPECT_THAT(Why(R"({"range": {"size": {}}})"), HasSubstr("needs gt"));
  EXPECT_THAT(Why(R"({"range": {"size": {"gt": 1, "gte": 2}}})"), HasSubstr("two bounds"));
  EXPECT_THAT(Why(R"({"range": {"size": {"gt": 1, "format": "x"}}})"),
              StartsWith("unsupported_clause: filters.range.size"));
}

TEST_F(DslFilter, WordsAndPhrasesAreLookedForInTexts) {
  const std::string document = R"({"title": "Deep-Blue sea"})";
  EXPECT_TRUE(Is(R"({"match": {"title": "red blue"}})", document));
  EXPECT_FALSE(Is(R"({"match": {"title": {"query": "red blue", "operator": "and"}}})", document));
  EXPECT_TRUE(Is(R"({"match": {"title": {"query": "SEA blue", "operator": "AND"}}})", document));
  EXPECT_FALSE(Is(R"({"match": {"title": "se"}})", document));
  EXPECT_TRUE(Is(R"({"match_phrase": {"title": "deep BLUE"}})", document));
  EXPECT_FALSE(Is(R"({"match_phrase": {"title": "deep sea"}})", document));
  EXPECT_FALSE(Is(R"({"match": {"title": "!?"}})", document)) << "no word, no document";
  EXPECT_TRUE(Is(R"({"match": {"tag": "a"}})", R"({"tag": "a"})")) << "of a keyword: the value";
  EXPECT_THAT(Why(R"({"match": {"title": {"query": "a", "operator": "xor"}}})"),
              StartsWith("invalid_filter"));
  EXPECT_THAT(Why(R"({"match": {"title": {"query": "a", "fuzziness": 1}}})"),
              StartsWith("unsupported_clause"));
}

TEST_F(DslFilter, ANestedFilterIsAboutOneObject) {
  const std::string both = R"({"nested": {"path": "jobs", "query": {"bool": {"must": [
      {"term": {"jobs.grade": "a"}}, {"term": {"jobs.current": true}}]}}}})";
  EXPECT_TRUE(Is(both, R"({"jobs": [{"grade": "b"}, {"grade": "a", "current": true}]})"));
  EXPECT_FALSE(Is(both, R"({"jobs": [{"grade": "a"}, {"current": true}]})"));
  EXPECT_TRUE(Is(both, R"({"jobs": {"grade": "a", "current": true}})"));
  // Outside of a nested clause the objects need not be the same.
  EXPECT_TRUE(Is(R"({"bool": {"must": [{"term": {"jobs.grade": "a"}},
                     {"term": {"jobs.current": true}}]}})",
                 R"({"jobs": [{"grade": "a"}, {"current": true}]})"));
  EXPECT_THAT(Why(R"({"nested": {"path": "jobs", "query": {"term": {"tag": "a"}}}})"),
              HasSubstr("tag is not a field of jobs"));
  EXPECT_THAT(Why(R"({"nested": {"path": "tags", "query": {"match_all": {}}}})"),
              StartsWith("unknown_field: "));
  EXPECT_THAT(Why(R"({"nested": {"path": "jobs", "query": {"nested": {"path": "jobs",
                      "query": {"match_all": {}}}}}})"),
              StartsWith("unsupported_clause: "));
  EXPECT_THAT(Why(R"({"nested": {"path": "jobs"}})"), StartsWith("invalid_filter: "));
}

TEST_F(DslFilter, TheOtherClauses) {
  EXPECT_TRUE(Is(R"({"terms": {"size": [1, 2]}})", R"({"size": 2})"));
  EXPECT_FALSE(Is(R"({"terms": {"size": []}})", R"({"size": 2})"));
  EXPECT_TRUE(Is(R"({"prefix": {"tag": "ab"}})", R"({"tag": "abc"})"));
  EXPECT_TRUE(Is(R"({"prefix": {"title": {"value": "Ab"}}})", R"({"title": "Abc"})"));
  EXPECT_TRUE(
      Is(R"({"constant_score": {"filter": {"term": {"open": true}}}})", R"({"open": true})"));
  EXPECT_FALSE(Is(R"({"exists": {"field": "size"}})", R"({"size": "many"})"))
      << "a value of another type is none";
}

TEST_F(DslFilter, WhatIsNotSupportedIsNamedWithItsPlace) {
  EXPECT_EQ(Why(R"({"bool": {"must": [{"term": {"tag": "a"}}, {"fuzzy": {"tag": "a"}}]}})"),
            "unsupported_clause: filters.bool.must[1]: \"fuzzy\" is not supported");
  EXPECT_THAT(Why(R"({"bool": {"boost": 2}})"), StartsWith("unsupported_clause: filters.bool"));
  EXPECT_THAT(Why(R"({"script": {"source": "1"}})"), StartsWith("unsupported_clause"));
  EXPECT_THAT(Why(R"({"query_string": {"query": "*"}})"), StartsWith("unsupported_clause"));
  EXPECT_THAT(Why(R"({"query": {"match_all": {}}, "size": 5})"),
              HasSubstr("size belongs to a search"));
  EXPECT_THAT(Why(R"({"sort": []})"), HasSubstr("sort belongs to a search"));
  EXPECT_THAT(Why(R"({"term": {"tag": {"value": "a", "case_insensitive": true}}})"),
              StartsWith("unsupported_clause"));
  EXPECT_THAT(Why(R"({"match_all": {"boost": 1}})"), StartsWith("unsupported_clause"));
}

TEST_F(DslFilter, WhatHasNoFormIsInvalid) {
  for (const char* filter :
       {R"({"query": 5})", R"({"query": {}})", R"({"term": []})", R"({"term": {}})",
        R"({"term": {"tag": "a", "size": 1}})", R"({"term": {"tag": {}}})",
        R"({"terms": {"tag": "a"}})", R"({"bool": {"must": ["x"]}})", R"({"exists": {}})",
        R"({"exists": {"field": 5}})", R"({"range": {"size": 5}})", R"({"constant_score": {}})",
        R"({"prefix": {"size": "1"}})", R"({"term": {"tag": "a"}, "exists": {"field": "tag"}})"}) {
    EXPECT_THAT(Why(filter), StartsWith("invalid_filter: ")) << filter;
  }
}

TEST_F(DslFilter, AFieldIsKnownAndHasTheValuesThatAreAskedFor) {
  EXPECT_THAT(Why(R"({"term": {"tagg": "a"}})"), HasSubstr("did you mean tag?"));
  EXPECT_THAT(Why(R"({"term": {"note": "a"}})"), StartsWith("field_has_no_values: "));
  EXPECT_EQ(Why(R"({"match": {"note": "a"}})"), "");
  EXPECT_EQ(Why(R"({"exists": {"field": "note"}})"), "");
}

TEST_F(DslFilter, AValueIsOfTheFieldsType) {
  for (const char* filter :
       {R"({"term": {"tag": 5}})", R"({"term": {"tag": null}})", R"({"term": {"size": "5"}})",
        R"({"term": {"size": 1.5}})", R"({"term": {"size": 9007199254740993}})",
        R"({"term": {"score": "NaN"}})", R"({"term": {"open": "true"}})",
        R"({"term": {"open": 1}})", R"({"term": {"since": "yesterday"}})",
        R"({"term": {"since": "2024-5-1"}})", R"({"term": {"since": "2024-05-31T09:30:00"}})",
        R"({"terms": {"size": [1, "2"]}})", R"({"match": {"title": 5}})"}) {
    EXPECT_THAT(Why(filter), StartsWith("invalid_filter: ")) << filter;
  }
  for (const char* filter :
       {R"({"term": {"size": 5.0}})", R"({"term": {"score": 5}})", R"({"term": {"since": "2024"}})",
        R"({"term": {"since": "2024-05-31T09:30:00.123Z"}})"}) {
    EXPECT_EQ(Why(filter), "") << filter;
  }
}

}  // namespace
}  // namespace vedette::test
