// Filters in the language of document stores: what each operator means, and what is refused.
#include <gmock/gmock.h>

#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SimpleFilter : public FilterTest {
 public:
  bool Is(const std::string& filter, const std::string& document) const {
    return Holds(Grammar::kSimple, filter, document);
  }
  std::string Why(const std::string& filter) const { return Refusal(Grammar::kSimple, filter); }
};

TEST_F(SimpleFilter, MembersHoldTogether) {
  EXPECT_TRUE(Is(R"({"tag": "a", "size": {"$gt": 1}})", R"({"tag": "a", "size": 2})"));
  EXPECT_FALSE(Is(R"({"tag": "a", "size": {"$gt": 2}})", R"({"tag": "a", "size": 2})"));
  EXPECT_TRUE(Is("{}", "{}"));
}

TEST_F(SimpleFilter, EachComparison) {
  const std::string document = R"({"size": 5})";
  for (const char* holds :
       {R"({"$eq": 5})", R"({"$ne": 4})", R"({"$gt": 4})", R"({"$gte": 5})", R"({"$lt": 6})",
        R"({"$lte": 5})", R"({"$in": [4, 5]})", R"({"$nin": [4]})", R"({"$exists": true})",
        R"({"$not": {"$gt": 5}})", R"({"$match": 5})"}) {
    EXPECT_TRUE(Is("{\"size\": " + std::string(holds) + "}", document)) << holds;
  }
  for (const char* fails : {R"({"$eq": 4})", R"({"$ne": 5})", R"({"$gt": 5})", R"({"$gte": 6})",
                            R"({"$lt": 5})", R"({"$lte": 4})", R"({"$in": []})", R"({"$nin": [5]})",
                            R"({"$exists": false})", R"({"$not": {"$lt": 6}})"}) {
    EXPECT_FALSE(Is("{\"size\": " + std::string(fails) + "}", document)) << fails;
  }
}

TEST_F(SimpleFilter, NullIsNoValue) {
  EXPECT_TRUE(Is(R"({"size": null})", R"({"size": null})"));
  EXPECT_TRUE(Is(R"({"size": {"$eq": null}})", "{}"));
  EXPECT_FALSE(Is(R"({"size": {"$ne": null}})", "{}"));
  EXPECT_TRUE(Is(R"({"size": {"$ne": 5}})", "{}"));
}

TEST_F(SimpleFilter, Joints) {
  EXPECT_TRUE(Is(R"({"$or": [{"tag": "a"}, {"size": 1}]})", R"({"size": 1})"));
  EXPECT_FALSE(Is(R"({"$or": []})", "{}"));
  EXPECT_FALSE(Is(R"({"$and": [{"tag": "a"}, {"size": 1}]})", R"({"size": 1})"));
  EXPECT_FALSE(Is(R"({"$nor": [{"tag": "a"}, {"size": 1}]})", R"({"size": 1})"));
  EXPECT_TRUE(Is(R"({"$not": {"tag": "a"}})", R"({"size": 1})"));
}

TEST_F(SimpleFilter, OneElementMeetsEverything) {
  const std::string far = R"({"size": [0, 9]})";
  EXPECT_TRUE(Is(R"({"size": {"$gt": 1, "$lt": 5}})", far)) << "each bound by a value of its own";
  EXPECT_FALSE(Is(R"({"size": {"$elemMatch": {"$gt": 1, "$lt": 5}}})", far));
  const std::string jobs = R"({"jobs": [{"grade": "a"}, {"current": true, "grade": "b"}]})";
  EXPECT_FALSE(Is(R"({"jobs": {"$elemMatch": {"grade": "a", "current": true}}})", jobs));
  EXPECT_TRUE(Is(R"({"jobs": {"$elemMatch": {"jobs.grade": "b", "current": true}}})", jobs));
  EXPECT_TRUE(Is(R"({"jobs.grade": "a", "jobs.current": true})", jobs));
  EXPECT_TRUE(Is(R"({"jobs.grade": {"$ne": "c"}})", jobs));
  EXPECT_FALSE(Is(R"({"jobs.grade": {"$ne": "a"}})", jobs));
}

TEST_F(SimpleFilter, OneElementStandsBesideAndBelowOtherOperators) {
  const std::string far = R"({"size": [0, 9]})";
  EXPECT_TRUE(Is(R"({"size": {"$elemMatch": {"$gt": 5}, "$lt": 1}})", far));
  EXPECT_FALSE(Is(R"({"size": {"$elemMatch": {"$gt": 5}, "$ne": 0}})", far));
  EXPECT_TRUE(Is(R"({"size": {"$not": {"$elemMatch": {"$gt": 1, "$lt": 5}}}})", far));
  const std::string jobs = R"({"jobs": [{"grade": "a"}, {"current": true, "grade": "b"}]})";
  EXPECT_TRUE(Is(R"({"jobs": {"$not": {"$elemMatch": {"grade": "a", "current": true}}}})", jobs));
  EXPECT_FALSE(Is(R"({"jobs": {"$not": {"$elemMatch": {"grade": "a"}}}})", jobs));
  EXPECT_TRUE(Is(R"({"jobs": {"$elemMatch": {"grade": "a"},
                              "$not": {"$elemMatch": {"grade": "c"}}}})",
                 jobs));
  EXPECT_EQ(Why(R"({"jobs": {"$exists": true}})"),
            "invalid_filter: simple_filters.jobs.$exists: objects are asked by $elemMatch; a field "
            "of theirs is named by its path");
  EXPECT_THAT(Why(R"({"jobs": {}})"), StartsWith("invalid_filter: simple_filters.jobs: name an"));
}

TEST_F(SimpleFilter, Words) {
  const std::string document =
      R"({"title": "Deep blue", "note": "sea", "jobs": [{"name": "Red"}]})";
  EXPECT_TRUE(Is(R"({"title": {"$match": "red blue"}})", document));
  EXPECT_TRUE(Is(R"({"title": {"$phrase": "deep blue"}})", document));
  EXPECT_FALSE(Is(R"({"title": {"$phrase": "blue deep"}})", document));
  EXPECT_TRUE(Is(R"({"$search": "blue DEEP"})", document));
  EXPECT_TRUE(Is(R"({"$search": "red"})", document)) << "texts of objects, too";
  EXPECT_FALSE(Is(R"({"$search": "deep sea"})", document)) << "not in one text";
}

TEST_F(SimpleFilter, WhatIsNotSupportedIsNamedWithItsPlace) {
  EXPECT_EQ(Why(R"({"$or": [{"tag": {"$regex": "a"}}]})"),
            "unsupported_clause: simple_filters.$or[0].tag.$regex: \"$regex\" is not supported");
  EXPECT_THAT(Why(R"({"$where": "1"})"), StartsWith("unsupported_clause: simple_filters.$where"));
  EXPECT_THAT(Why(R"({"$sort": {"tag": 1}})"), HasSubstr("$sort belongs to a search"));
  EXPECT_THAT(Why(R"({"$limit": 5})"), HasSubstr("$limit belongs to a search"));
  EXPECT_THAT(Why(R"({"size": {"$elemMatch": {"$in": [1]}}})"), StartsWith("unsupported_clause"));
}

TEST_F(SimpleFilter, WhatHasNoFormIsInvalid) {
  for (const char* filter :
       {R"({"tag": ["a"]})", R"({"tag": {}})", R"({"tag": {"x": 1}})", R"({"$or": {}})",
        R"({"$or": [5]})", R"({"tag": {"$in": "a"}})", R"({"tag": {"$exists": 1}})",
        R"({"tag": {"$not": "a"}})", R"({"$search": 5})", R"({"jobs": {"$elemMatch": 5}})",
        R"({"size": {"$elemMatch": {}}})", R"({"size": "1"})", R"({"open": {"$gt": true}})",
        R"({"tag": {"$in": [null]}})"}) {
    EXPECT_THAT(Why(filter), StartsWith("invalid_filter: ")) << filter;
  }
  EXPECT_THAT(Why(R"({"citi": "a"})"), StartsWith("unknown_field: "));
  EXPECT_THAT(Why(R"({"note": "a"})"), StartsWith("field_has_no_values: "));
}

}  // namespace
}  // namespace vedette::test
