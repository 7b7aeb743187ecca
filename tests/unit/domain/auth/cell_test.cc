#include "domain/auth/cell.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::domain {
namespace {

const std::string kTail(43, 'a');

TEST(Cell, AnIdIsShortAndOfLowerCaseLettersAndDigits) {
  for (const char* id : {"c2", "7", "eucentr1"}) EXPECT_TRUE(IsCellId(id)) << id;
  for (const char* id : {"", "C2", "c_2", "c-2", "c2 ", "toolongid"})
    EXPECT_FALSE(IsCellId(id)) << id;
}

TEST(Cell, WhatACellGivesOutNamesItAndWhatTheFirstOneGivesOutIsAsEver) {
  EXPECT_EQ(CellPrefix("vd_live_", ""), "vd_live_");
  EXPECT_EQ(CellPrefix("vd_live_", "c2"), "vd_live_c2_");
  EXPECT_EQ(CellOfSecret("vd_live_" + kTail, "vd_live_", 43), "");
  EXPECT_EQ(CellOfSecret("vd_live_c2_" + kTail, "vd_live_", 43), "c2");
  for (const std::string& text :
       {"vd_live_" + kTail.substr(1), "vd_live_a" + kTail, "vd_live__" + kTail,
        "vd_live_C2_" + kTail, "vd_live_toolongid_" + kTail, "vd_live_c2_" + kTail + "-",
        "vd_at_c2_" + kTail, "vd_live_c2_c3_" + kTail, std::string()}) {
    EXPECT_EQ(CellOfSecret(text, "vd_live_", 43), std::nullopt) << text;
  }
}

TEST(Cell, ACursorIsTakenApartAsItWasPutTogether) {
  for (const char* id : {"", "c2"}) {
    const std::string text = WithCell(id, "AbC_-9");
    EXPECT_EQ(SplitCell(text).cell, id);
    EXPECT_EQ(SplitCell(text).text, "AbC_-9");
  }
  EXPECT_EQ(SplitCell("NotOne.x").text, "NotOne.x");
}

TEST(Cell, ALinkNamesACellThatIsNotTheFirst) {
  EXPECT_EQ(CellQuery(""), "");
  EXPECT_EQ(CellQuery("c2"), "&cell=c2");
  for (const char* cell : {"", "c2"}) EXPECT_EQ(CellOfWord(CellWord(cell)), cell);
  for (const char* word : {"", "--", "C2"}) EXPECT_EQ(CellOfWord(word), std::nullopt) << word;
}

TEST(Cell, ALinkToAMonitorLeadsPeopleToThePageInTheDashboard) {
  EXPECT_EQ(MonitorsUrl("https://v.example", true, ""), "https://v.example/dashboard#/monitors");
  EXPECT_EQ(MonitorsUrl("https://v.example", true, "c2"),
            "https://v.example/dashboard?cell=c2#/monitors");
  EXPECT_EQ(MonitorsUrl("https://v.example", false, "c2"), "https://v.example/monitors");
  EXPECT_EQ(MonitorsUrl("", true, "c2"), "");
}

}  // namespace
}  // namespace vedette::domain
