#include "base/text.h"

#include <gtest/gtest.h>

namespace vedette::base {
namespace {

TEST(ClosestWord, IsTheOneWithTheFewestTypos) {
  EXPECT_EQ(ClosestWord("demoo", {"serve", "demo", "probe"}, 3), "demo");
  EXPECT_EQ(ClosestWord("pobre", {"serve", "demo", "probe"}, 3), "probe");
}

TEST(ClosestWord, IsNoneWhereEveryWordIsFurtherOffThanTyposMay) {
  EXPECT_EQ(ClosestWord("elephant", {"serve", "demo"}, 3), std::nullopt);
  EXPECT_EQ(ClosestWord("demo", {}, 3), std::nullopt);
}

}  // namespace
}  // namespace vedette::base
