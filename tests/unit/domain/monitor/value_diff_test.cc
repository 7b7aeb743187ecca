#include "domain/monitor/monitor_json.h"

#include <gtest/gtest.h>

// Lists and lines as what came and what went.
namespace vedette::domain {
namespace {

using Items = std::vector<std::string>;

TEST(ValueDiff, ListsAsATextOfThemOrAsArrays) {
  const auto texts = DiffOfValues(R"("[\"tea\",\"milk\"]")", R"("[\"milk\",\"coffee\",3]")");
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->added, (Items{"coffee", "3"}));
  EXPECT_EQ(texts->removed, (Items{"tea"}));
  const auto arrays = DiffOfValues(R"(["a"])", R"(["a","b"])");
  ASSERT_TRUE(arrays);
  EXPECT_EQ(arrays->added, (Items{"b"}));
  EXPECT_TRUE(arrays->removed.empty());
}

TEST(ValueDiff, AnItemCountsAsOftenAsItStands) {
  const auto diff = DiffOfValues(R"(["a","a","b"])", R"(["a","b","b"])");
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->added, (Items{"b"}));
  EXPECT_EQ(diff->removed, (Items{"a"}));
  const auto moved = DiffOfValues(R"(["a","b"])", R"(["b","a"])");
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->added.empty() && moved->removed.empty()) << "another order";
}

TEST(ValueDiff, LinesOfATextOfSeveral) {
  const auto diff = DiffOfValues(R"("one\n two \n\nthree")", R"("one\r\nthree\nfour\n")");
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->added, (Items{"four"}));
  EXPECT_EQ(diff->removed, (Items{"two"}));
  EXPECT_EQ(DiffOfValues(R"("one")", R"("one\ntwo")")->added, (Items{"two"}));
}

TEST(ValueDiff, OtherValuesHaveNone) {
  const std::vector<std::pair<std::string, std::string>> pairs{{"1", "2"},
                                                               {R"("a")", R"("b")"},
                                                               {"null", R"(["a"])"},
                                                               {R"("[a")", R"("[b")"},
                                                               {R"(["a"])", R"("a")"},
                                                               {"nonsense", "[]"},
                                                               {R"("a\nb")", "3"}};
  for (const auto& [before, now] : pairs) {
    EXPECT_FALSE(DiffOfValues(before, now)) << before << " " << now;
  }
}

}  // namespace
}  // namespace vedette::domain
