#include "domain/monitor/row_values.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

const ColumnRoles kRoles{{"domain", "name"}, {"price", "ceo"}};

RowValues Split(const char* json) {
  return SplitRow(base::ParseJsonOrThrow(json), kRoles);
}

TEST(RowValues, ColumnsBecomeSubjectBaselineAndContext) {
  const RowValues row = Split(R"({"note":1,"price":2,"name":"n","domain":"d","ceo":null})");
  EXPECT_EQ(row.subject_json, R"({"domain":"d","name":"n"})");
  EXPECT_EQ(row.baseline_json, R"({"price":2})");
  EXPECT_EQ(row.context_json, R"({"note":1})");
  EXPECT_FALSE(Split(R"({"domain":"d"})").context_json);
}

TEST(RowValues, AKeyNeedsAValueInOneColumn) {
  EXPECT_TRUE(Split(R"({"name":"n"})").has_key);
  EXPECT_TRUE(Split(R"({"name":0})").has_key);
  EXPECT_TRUE(Split(R"({"name":false})").has_key);
  for (const char* row : {R"({})", R"({"name":null})", R"({"name":"","domain":" \t"})"}) {
    EXPECT_FALSE(Split(row).has_key) << row;
  }
}

TEST(RowValues, KeysAreEqualWhereTheirValuesAre) {
  const auto same = [](const char* a, const char* b) {
    return Split(a).key_hash == Split(b).key_hash;
  };
  EXPECT_TRUE(same(R"({"domain":"a"})", R"({"domain":" a ","name":null,"x":1})"));
  EXPECT_TRUE(same(R"({"domain":1})", R"({"domain":"1"})"));
  EXPECT_TRUE(same(R"({"domain":1.0})", R"({"domain":"1"})"));
  EXPECT_TRUE(same(R"({"domain":true})", R"({"domain":"true"})"));
  EXPECT_FALSE(same(R"({"domain":"a"})", R"({"domain":"A"})"));
  EXPECT_FALSE(same(R"({"domain":"a"})", R"({"name":"a"})"));
  EXPECT_FALSE(same(R"({"domain":"ab","name":"c"})", R"({"domain":"a","name":"bc"})"));
}

RowValues SplitExact(const std::string& json) {
  base::Json columns;
  EXPECT_FALSE(base::ParseJson(json, &columns, {.keep_numbers = true}));
  return SplitRow(columns, kRoles);
}

TEST(RowValues, NumbersOfAnyLengthStayAsTheyWereGiven) {
  const RowValues row =
      SplitExact(R"({"domain":100000000000000000001,"price":1E2,"x":12345678901234567890123})");
  EXPECT_EQ(row.subject_json, R"({"domain":100000000000000000001})");
  EXPECT_EQ(row.baseline_json, R"({"price":1E2})");
  EXPECT_EQ(row.context_json, R"({"x":12345678901234567890123})");
}

TEST(RowValues, NumbersAreEqualByTheirExactValue) {
  const auto same = [](const std::string& a, const std::string& b) {
    return SplitExact(R"({"domain":)" + a + "}").key_hash ==
           SplitExact(R"({"domain":)" + b + "}").key_hash;
  };
  EXPECT_FALSE(same("100000000000000000001", "100000000000000000002"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(same("0.1000000000000000055511151231257827", "0.1"));
  EXPECT_TRUE(same("100000000000000000001", "\"100000000000000000001\""));
  EXPECT_TRUE(same("100000000000000000001", "1000000000000000000010e-1"));
  EXPECT_TRUE(same("9007199254740993", "9007199254740993.0"));
  for (const char* hundred : {"1E2", "100.0", "1.00e+2", "1000e-1", "\"100\""}) {
    EXPECT_TRUE(same(hundred, "100")) << hundred;
  }
  EXPECT_TRUE(same("-0", "0"));
  EXPECT_TRUE(same("-0.50", "-0.5"));
  EXPECT_TRUE(same("1e-7", "1E-7"));
  EXPECT_FALSE(same("-5", "5"));
}

}  // namespace
}  // namespace vedette::domain
