#include "api/fields.h"

#include <gtest/gtest.h>

namespace vedette::api {
namespace {

std::string TypeOf(const Problems& problems) {
  return problems.any() ? problems.items()[0].type : "";
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

TEST(QueryReader, TakesTrueAndFalseOnly) {
  for (const auto& [text, value, ok] :
       {std::tuple("b=true", true, true), std::tuple("b=false", false, true),
        std::tuple("b=1", false, false), std::tuple("b=True", false, false),
        std::tuple("b=", false, false), std::tuple("", false, true)}) {
    Problems problems;
    QueryReader query(text, &problems);
    EXPECT_EQ(query.Boolean("b", false), value) << text;
    EXPECT_EQ(problems.any(), !ok) << text;
  }
}

TEST(QueryReader, ABadEscapeIsAProblem) {
  Problems problems;
  const QueryReader query("limit=%zz", &problems);
  EXPECT_EQ(TypeOf(problems), "query_parsing");
}

TEST(BodyReader, UnknownFieldsAreForbidden) {
  const base::Json body{{"a", 1}, {"b", 2}};
  Problems problems;
  BodyReader reader(body, &problems);
  reader.Member("a", false);
  reader.Finish();
  ASSERT_EQ(problems.items().size(), 1U);
  EXPECT_EQ(problems.items()[0].type, "extra_forbidden");
  EXPECT_EQ(problems.items()[0].loc.dump(), R"(["body","b"])");
}

TEST(BodyReader, CountsCharactersNotBytes) {
  const base::Json body{{"a", "\xc3\xa4\xc3\xb6"}};
  Problems problems;
  BodyReader reader(body, &problems);
  EXPECT_TRUE(reader.Text("a", true, 1, 2));
  EXPECT_FALSE(reader.Text("a", true, 1, 1));
}

TEST(Problems, AreBounded) {
  Problems problems;
  for (int i = 0; i < 1000; ++i) problems.Add(base::Json::array(), "t", "m");
  EXPECT_TRUE(problems.full());
  EXPECT_EQ(problems.items().size(), 100U);
}

TEST(Shortened, CutsLongTextBetweenCharacters) {
  const std::string text(99, 'a');
  EXPECT_EQ(Shortened(text + "\xc3\xa4 and more").get<std::string>(), text + "...");
  EXPECT_EQ(Shortened(base::Json::array({1})), "(an array)");
}

}  // namespace
}  // namespace vedette::api
