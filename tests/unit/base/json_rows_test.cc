#include "base/json_rows.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/json.h"

namespace vedette::base {
namespace {

using Texts = std::vector<std::vector<std::string>>;

Texts RowsIn(const std::string& text) {
  Texts rows;
  ForEachRow(text, [&](CellTexts& row) { rows.emplace_back(row.begin(), row.end()); });
  return rows;
}

TEST(ForEachRow, GivesTheTextOfEachCell) {
  EXPECT_EQ(RowsIn("[]"), Texts{});
  EXPECT_EQ(RowsIn(" [ ] "), Texts{});
  EXPECT_EQ(RowsIn("[[]]"), (Texts{{}}));
  EXPECT_EQ(RowsIn(R"([["a",1,null],[true]])"), (Texts{{"\"a\"", "1", "null"}, {"true"}}));
  EXPECT_EQ(RowsIn("[ [ 1.50 ,\n-1e3\t] , [\"x\"] ]"), (Texts{{"1.50", "-1e3"}, {"\"x\""}}));
}

TEST(ForEachRow, BracketsAndQuotesInsideCellsAreOfTheCells) {
  EXPECT_EQ(RowsIn(R"([["],[", "a\"]", "\\", {"k]": ["[", "\\\""]}, [[], {}]]])"),
            (Texts{{R"("],[")", R"("a\"]")", R"("\\")", R"({"k]": ["[", "\\\""]})", "[[], {}]"}}));
}

TEST(ForEachRow, WhatIsNoRowIsPassedOver) {
  EXPECT_EQ(RowsIn(R"([null,["a"],null,{"b":[["c"]]},"[",["d"],7])"),
            (Texts{{"\"a\""}, {"\"d\""}}));
}

TEST(ForEachRow, EverythingElseIsRefused) {
  for (const char* text :
       {"", "null", "{}", "[", "[[", "[[1", "[[1]", "[[1],]", "[[1,]]", "[[,1]]", "[[1]]]",
        "[[1]] 2", "[[\"a]]", "[[\"a\\\"]]", "[[{\"a\":1]", "[[1][2]]"}) {
    EXPECT_THROW(RowsIn(text), std::invalid_argument) << text;
  }
}

TEST(ForEachRow, IsWhatTheParserReads) {
  const Json rows = Json::array({Json::array({"plain", "say \"hi\"", "back\\slash", "\n", nullptr}),
                                 Json::array({1, -2.5, true, Json{{"a", {1, "]"}}}}), nullptr});
  for (const std::string& text : {rows.dump(), rows.dump(2)}) {
    std::size_t n = 0;
    ForEachRow(text, [&](const CellTexts& cells) {
      ASSERT_EQ(cells.size(), rows[n].size());
      for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(Json::parse(cells[i]), rows[n][i]);
      ++n;
    });
    EXPECT_EQ(n, 2U);
  }
}

TEST(RowReader, GivesOneRowAfterTheOther) {
  const std::string text = R"([["a"], null, [1, 2], []])";
  RowReader reader(text);
  CellTexts cells;
  ASSERT_TRUE(reader.Next(&cells));
  EXPECT_EQ(cells, (CellTexts{"\"a\""}));
  ASSERT_TRUE(reader.Next(&cells));
  EXPECT_EQ(cells, (CellTexts{"1", "2"})) << "a row that was not recorded is passed over";
  ASSERT_TRUE(reader.Next(&cells));
  EXPECT_EQ(cells, CellTexts{});
  EXPECT_FALSE(reader.Next(&cells));
  RowReader cut("[[1]");
  ASSERT_TRUE(cut.Next(&cells));
  EXPECT_THROW(cut.Next(&cells), std::invalid_argument);
}

}  // namespace
}  // namespace vedette::base
