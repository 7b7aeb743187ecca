#include "api/kit/query_reader.h"

#include <gtest/gtest.h>

namespace vedette::rest {
namespace {

std::string TypeOf(const Problems& problems) {
  return problems.any() ? problems.Items()[0]["type"].get<std::string>() : "";
}

TEST(QueryReader, ReadsIntegersWithinTheirRange) {
  struct Case {
    const char* query;
    int value;
    const char* problem;
  };
  for (const Case& c :
       {Case{"", 100, ""}, Case{"limit=1", 1, ""}, Case{"limit=1000", 1000, ""},
        Case{"limit=0", 100, "greater_than_equal"}, Case{"limit=1001", 100, "less_than_equal"},
        Case{"limit=-1", 100, "greater_than_equal"},
        Case{"limit=99999999999999999999", 100, "less_than_equal"},
        Case{"limit=-99999999999999999999", 100, "greater_than_equal"},
        Case{"limit=", 100, "int_parsing"}, Case{"limit=1x", 100, "int_parsing"},
        Case{"limit=1.5", 100, "int_parsing"}, Case{"limit=%20", 100, "int_parsing"},
        Case{"limit=3&limit=4", 4, ""}, Case{"other=3", 100, ""}}) {
    Problems problems;
    QueryReader query(c.query, &problems);
    EXPECT_EQ(query.Integer("limit", 100, 1, 1000), c.value) << c.query;
    EXPECT_EQ(TypeOf(problems), c.problem) << c.query;
  }
}

TEST(QueryReader, TakesTrueAndFalseAsLanguagesWriteThemAndNothingElse) {
  for (const auto& [text, value, ok] :
       {std::tuple("b=true", true, true), std::tuple("b=false", false, true),
        std::tuple("b=True", true, true), std::tuple("b=False", false, true),
        std::tuple("b=TRUE", true, true), std::tuple("b=1", true, true),
        std::tuple("b=0", false, true), std::tuple("b=2", false, false),
        std::tuple("b=yes", false, false), std::tuple("b=%20true", false, false),
        std::tuple("b=", false, false), std::tuple("", false, true)}) {
    Problems problems;
    QueryReader query(text, &problems);
    EXPECT_EQ(query.Boolean("b", false), value) << text;
    EXPECT_EQ(problems.any(), !ok) << text;
  }
}

TEST(QueryReader, WhatNobodyAskedForIsRefusedByItsNameAlone) {
  Problems problems;
  QueryReader query("limit=3&page=2&cursor=x&api_key=secret", &problems);
  EXPECT_EQ(query.Integer("limit", 100, 1, 1000), 3);
  EXPECT_FALSE(query.Text("archived"));
  EXPECT_FALSE(problems.any());
  query.Finish({"cursor"});
  ASSERT_EQ(problems.Items().size(), 2U);
  EXPECT_EQ(TypeOf(problems), "extra_forbidden");
  EXPECT_EQ(problems.Items()[0]["loc"], base::Json::array({"query", "page"}));
  EXPECT_EQ(problems.Items()[1]["loc"], base::Json::array({"query", "api_key"}));
  EXPECT_EQ(problems.Items()[1]["input"], nullptr);
}

TEST(QueryReader, ABadEscapeIsAProblem) {
  Problems problems;
  const QueryReader query("limit=%zz", &problems);
  EXPECT_EQ(TypeOf(problems), "query_parsing");
}

TEST(QueryReader, ReadsIdsAndRefusesWhatIsNone) {
  Problems problems;
  QueryReader query("a=01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3d&b=x", &problems);
  EXPECT_TRUE(query.Id("a"));
  EXPECT_FALSE(query.Id("absent"));
  EXPECT_FALSE(problems.any());
  EXPECT_FALSE(query.Id("b"));
  EXPECT_EQ(TypeOf(problems), "uuid_parsing");
  EXPECT_EQ(problems.Items()[0]["loc"], base::Json::array({"query", "b"}));
  EXPECT_EQ(problems.Items()[0]["input"], "x");
}

}  // namespace
}  // namespace vedette::rest
