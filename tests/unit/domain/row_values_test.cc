#include "domain/row_values.h"

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

}  // namespace
}  // namespace vedette::domain
