#include "admin/shapes.h"

#include <gtest/gtest.h>

#include <string>

#include "admin/answer.h"

namespace vedette::admin {
namespace {

base::Uuid Id(int n) {
  base::Uuid id;
  id.bytes[15] = static_cast<std::uint8_t>(n);
  return id;
}

TEST(Shapes, AnOrganisationShowsCreditsAndItsTeams) {
  store::Organisation org;
  org.id = Id(1);
  org.name = "Acme";
  org.features = {"monitors"};
  org.balance_mc = 1500;
  org.reserved_mc = 2000;
  org.charged_mc = 1;
  org.teams = {{Id(2), "red", std::nullopt, 500}, {Id(3), "blue", 0, 0}};
  const base::Json json = OrganisationJson(org);
  EXPECT_EQ(json["balance"], 1.5);
  EXPECT_EQ(json["reserved"], 2);
  EXPECT_EQ(json["charged"], 0.001);
  EXPECT_EQ(json["teams"][0]["spend_limit"], nullptr);
  EXPECT_EQ(json["teams"][0]["spent"], 0.5);
  EXPECT_EQ(json["teams"][1]["spend_limit"], 0);
}

TEST(Shapes, WhatAReceiverAnsweredIsTextWhateverItsBytes) {
  store::DeliveryDetail detail;
  store::DeliveryAttemptView attempt;
  attempt.answer = "<script>\xff\xfe";
  attempt.duration = std::chrono::microseconds(1500);
  detail.attempts.push_back(attempt);
  const base::Json json =
      base::ParseJsonOrThrow(base::DumpJson(DeliveryDetailJson(detail)))["history"][0];
  EXPECT_EQ(json["answer"], "<script>\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json["status_code"], nullptr);
  EXPECT_EQ(json["duration_ms"], 1.5);
}

TEST(Shapes, AListWithoutAFurtherPageHasNoCursor) {
  EXPECT_EQ(base::DumpJson(ListJson(base::Json::array(), std::nullopt)), R"({"items":[]})");
  EXPECT_EQ(base::DumpJson(ListJson(base::Json::array({1}), "x")),
            R"({"items":[1],"next_cursor":"x"})");
}

TEST(Answers, AreWhatTheInterfaceNames) {
  EXPECT_EQ(ErrorAnswer(409, "a", "b").body, R"({"error":"a","message":"b"})");
  EXPECT_EQ(InvalidAnswer({{base::Json::array({"body", "x"}), "m", "t", 1, nullptr}}).body,
            R"({"detail":[{"loc":["body","x"],"msg":"m","type":"t","input":1,"ctx":null}]})");
  const Answer later = TryLater("unavailable", "m");
  EXPECT_EQ(later.status, 503);
  EXPECT_NE(std::find(later.headers.begin(), later.headers.end(),
                      std::pair<std::string, std::string>("Retry-After", "5")),
            later.headers.end());
}

}  // namespace
}  // namespace vedette::admin
