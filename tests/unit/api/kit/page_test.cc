#include "api/kit/cursor.h"

#include <gtest/gtest.h>

namespace vedette::rest {
namespace {

std::string CursorAfter(int item) {
  return "after-" + std::to_string(item);
}

void Write(int item, std::string* text) {
  text->append(std::to_string(item));
}

TEST(Pages, HaveACursorWhereOneItemTooManyWasRead) {
  const auto page = CutPage(std::vector<int>{1, 2, 3}, 2, CursorAfter);
  EXPECT_EQ(page.items, (std::vector<int>{1, 2}));
  EXPECT_EQ(page.next_cursor, "after-2");
  EXPECT_EQ(PageText("items", page, Write), R"({"items":[1,2],"next_cursor":"after-2"})");
}

TEST(Pages, ThatAreTheLastHaveNone) {
  EXPECT_EQ(PageText("items", CutPage(std::vector<int>{1, 2}, 2, CursorAfter), Write),
            R"({"items":[1,2]})");
  EXPECT_EQ(PageText("rows", CutPage(std::vector<int>{}, 2, CursorAfter), Write), R"({"rows":[]})");
}

TEST(Pages, ThatTheStoreCutForTheirBytesHaveACursorToo) {
  const auto page = CutPage(store::Page<int>{{1}, true}, 2, CursorAfter);
  EXPECT_EQ(page.items, (std::vector<int>{1}));
  EXPECT_EQ(page.next_cursor, "after-1");
}

}  // namespace
}  // namespace vedette::rest
