#include "domain/email/find_request.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vedette::domain {
namespace {

base::Json Lead(const char* name) {
  return {{"name", name}, {"domain", "acme.com"}};
}

FindRequest Request(FindMode mode = FindMode::kProfessional) {
  FindRequest request;
  request.mode = mode;
  request.verify_emails = false;
  request.providers = {"mine", "other"};
  request.charge = ChargeRule::kOk;
  request.verify_mc = 1000;
  request.rows = MakeFindRows({Lead("Ann"), Lead("Bob"), Lead(" ANN "), Lead("bob")});
  return request;
}

constexpr FindEmailPrices kPrices{5000, 20000, 1000, ChargeRule::kFound};

TEST(FindRequest, AnEqualLeadIsACopyOfTheFirst) {
  const auto rows = Request().rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[0].copy_of);
  EXPECT_FALSE(rows[1].copy_of);
  EXPECT_EQ(rows[2].copy_of, 0U);
  EXPECT_EQ(rows[3].copy_of, 1U);
  EXPECT_EQ(rows[2].lead.Value().at("name"), " ANN ") << "a copy keeps what the client sent";
}

TEST(FindRequest, ItIsReadAsItWasWritten) {
  const FindRequest request = Request(FindMode::kPersonal);
  const std::string params = FindParamsJson(request);
  const FindRequest read = ReadFindRequest(params);
  EXPECT_EQ(FindParamsJson(read), params);
  EXPECT_EQ(read.mode, FindMode::kPersonal);
  EXPECT_FALSE(read.verify_emails);
  EXPECT_EQ(read.providers, request.providers);
  EXPECT_EQ(read.charge, ChargeRule::kOk);
  EXPECT_EQ(read.rows.at(2).copy_of, 0U);
  EXPECT_EQ(base::ParseJsonOrThrow(params).at("rows").at(0), Lead("Ann"));
  EXPECT_EQ(
      FindSpecsJson(request),
      R"({"mode":"PERSONAL","verify_emails":false,"providers":["mine","other"],"charge":"ok",)"
      R"("verify_mc":1000})");
  EXPECT_TRUE(ReadFindRequest(FindSpecsJson(request)).rows.empty());
}

TEST(FindRequest, NumbersOfALeadComeBackAsTheyWereSent) {
  const std::string lead = R"({"name":"Ann","id":123456789012345678901234567890,"price":1.10})";
  const FindRequest request{.rows = {{base::ReadJsonCell(lead), std::nullopt}}};
  const FindRequest read = ReadFindRequest(FindParamsJson(request));
  EXPECT_EQ(base::DumpJson(read.rows.at(0).lead.Value()), lead);
}

TEST(FindRequest, ALeadWhoseKeysLookLikeACopyIsALead) {
  const base::Json lead{{"name", "Ann"}, {"duplicate_of", 3}, {"copy_of", 3}};
  const FindRow row = ReadFindRow(FindRowCell({lead, std::nullopt}));
  EXPECT_FALSE(row.copy_of);
  EXPECT_EQ(row.lead.Value(), lead);
}

TEST(FindRequest, WhatIsNoStoredRequestIsRefused) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"mode":"PERSONAL"})",
       R"({"mode":"personal","verify_emails":true,"providers":[],"charge":"found"})",
       R"({"mode":"PERSONAL","verify_emails":1,"providers":[],"charge":"found"})",
       R"({"mode":"PERSONAL","verify_emails":true,"providers":[1],"charge":"found"})",
       R"({"mode":"PERSONAL","verify_emails":true,"providers":[],"charge":"never"})",
       R"({"mode":"PERSONAL","verify_emails":true,"providers":[],"charge":"ok","rows":[5]})",
       R"({"mode":"PERSONAL","verify_emails":true,"providers":[],"charge":"ok","rows":[[-1,{}]]})"}) {
    EXPECT_THROW(ReadFindRequest(text), std::invalid_argument) << text;
  }
}

TEST(FindRequest, CopiesAndLeadsThatAreAnsweredAtOnceCostNothing) {
  EXPECT_EQ(FindEstimateMc(Request(), kPrices), 2 * 5000);
  EXPECT_EQ(FindEstimateMc(Request(FindMode::kPersonal), kPrices), 2 * 20000);
  FindRequest request;
  request.rows = MakeFindRows({{{"name", "Ann"}, {"email", "ann@acme.com"}},
                               {{"name", "Ann"}, {"domain", "gmail.com"}},
                               {{"name", "Ann"}, {"personal_email", "a@x.org"}}});
  EXPECT_EQ(FindEstimateMc(request, kPrices), 1000 + 5000)
      << "the first is verified, the third alone is looked for";
  request.verify_emails = false;
  EXPECT_EQ(FindEstimateMc(request, kPrices), 5000) << "the third alone is looked for";
  request.mode = FindMode::kPersonal;
  EXPECT_EQ(FindEstimateMc(request, kPrices), 2 * 20000) << "the third alone is known";
}

}  // namespace
}  // namespace vedette::domain
