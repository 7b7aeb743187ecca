#include "api/tenant/email/find_body.h"

#include <gmock/gmock.h>

#include <string>

#include "api/tenant/call.h"
#include "base/json.h"
#include "tests/support/refusal.h"

namespace vedette::api {
namespace {

using base::Json;

struct Read {
  FindBody body;
  rest::Problems problems;
  std::string code;  // of the rule that is broken
  std::string message;
};

Read ReadText(const std::string& text, LeadShape shape = LeadShape::kBulk) {
  Read read;
  read.body = ReadFindBody(base::ParseJsonOrThrow(text), shape, &read.problems);
  if (read.problems.any()) return read;
  const auto reply = test::RefusalOf([&] {
    CheckFindBody(read.body, {{"yours", "mine", "whois"}, {"yours", "mine"}, {"yours", "mine"}});
  });
  if (reply) {
    EXPECT_EQ(reply->status, 400);
    const Json json = base::ParseJsonOrThrow(reply->body);
    read.code = json["error"];
    read.message = json["message"];
  }
  return read;
}

std::string FirstLoc(const Read& read) {
  return read.problems.any() ? base::DumpJson(read.problems.Items()[0]["loc"]) : "";
}

TEST(FindBody, DefaultsAreProfessionalVerifiedAndTheConfiguredOrder) {
  for (const char* text : {R"({"lead": {"name": "Ada"}})",
                           R"({"lead": {"name": "Ada"}, "mode": null, "verify_emails": null,
                               "providers": null, "webhook_url": null})"}) {
    const Read read = ReadText(text, LeadShape::kSingle);
    EXPECT_FALSE(read.problems.any());
    EXPECT_EQ(read.code, "");
    EXPECT_EQ(read.body.leads.size(), 1U);
    EXPECT_EQ(read.body.leads[0]["name"], "Ada");
    EXPECT_EQ(read.body.mode, domain::FindMode::kProfessional);
    EXPECT_TRUE(read.body.verify_emails);
    EXPECT_TRUE(read.body.providers.empty());
    EXPECT_FALSE(read.body.webhook_url);
  }
}

TEST(FindBody, EveryMemberIsTaken) {
  const Read read = ReadText(R"({"leads": [{"name": "Ada"}, {"email": "a@b.example", "own": [1]}],
      "mode": "PERSONAL", "verify_emails": false, "providers": ["mine", "yours"],
      "webhook_url": "https://a.example/"})");
  EXPECT_FALSE(read.problems.any());
  EXPECT_EQ(read.code, "");
  EXPECT_EQ(read.body.leads[1]["own"][0], 1);
  EXPECT_EQ(read.body.mode, domain::FindMode::kPersonal);
  EXPECT_FALSE(read.body.verify_emails);
  EXPECT_THAT(read.body.providers, testing::ElementsAre("mine", "yours"));
  EXPECT_EQ(read.body.webhook_url, "https://a.example/");
}

TEST(FindBody, AWrongFormIsAProblemWithItsPlace) {
  EXPECT_EQ(FirstLoc(ReadText("{}")), R"(["body","leads"])");
  EXPECT_EQ(FirstLoc(ReadText(R"({"leads": null})")), R"(["body","leads"])");
  EXPECT_EQ(FirstLoc(ReadText(R"({"leads": {"name": "Ada"}})")), R"(["body","leads"])");
  EXPECT_EQ(FirstLoc(ReadText("{}", LeadShape::kSingle)), R"(["body","lead"])");
  EXPECT_EQ(FirstLoc(ReadText(R"({"lead": {"email": 5}})", LeadShape::kSingle)),
            R"(["body","lead","email"])");
  const std::string good = R"({"leads": [{"name": "Ada"}], )";
  EXPECT_EQ(FirstLoc(ReadText(good + R"("mode": "personal"})")), R"(["body","mode"])");
  EXPECT_EQ(FirstLoc(ReadText(good + R"("mode": 1})")), R"(["body","mode"])");
  EXPECT_EQ(FirstLoc(ReadText(good + R"("verify_emails": "yes"})")), R"(["body","verify_emails"])");
  EXPECT_EQ(FirstLoc(ReadText(good + R"("webhook_url": 1})")), R"(["body","webhook_url"])");
  EXPECT_EQ(FirstLoc(ReadText(good + R"("lead": {}})")), R"(["body","lead"])");
  Json many = {{"leads", {{{"name", "Ada"}}}}, {"providers", Json::array()}};
  for (std::size_t i = 0; i <= kProvidersMax; ++i) many["providers"].push_back("mine");
  EXPECT_EQ(FirstLoc(ReadText(base::DumpJson(many))), R"(["body","providers"])");
  EXPECT_EQ(FirstLoc(ReadText(R"({"leads": [{"name": "Ada"}, {"title": 1}]})")),
            R"(["body","leads",1,"title"])");
}

TEST(FindBody, TheFirstBrokenRuleIsToldInTheOrderOfTheRules) {
  EXPECT_EQ(ReadText(R"({"leads": []})").code, "no_leads");
  Json many = {{"leads", Json::array()}};
  for (std::size_t i = 0; i <= kLeadsMax; ++i) many["leads"].push_back(1);
  EXPECT_EQ(ReadText(base::DumpJson(many)).code, "too_many_leads");
  many["leads"].erase(0);
  EXPECT_EQ(ReadText(base::DumpJson(many)).code, "invalid_lead");
  const Read invalid = ReadText(R"({"leads": [{}, {"name": "Ada"}, "Ada"], "providers": ["x"]})");
  EXPECT_EQ(invalid.code, "invalid_lead");
  EXPECT_THAT(invalid.message, testing::StartsWith("leads[2] "));
  const Read empty = ReadText(R"({"leads": [{"name": "Ada"}, {"own": 1}], "providers": ["x"]})");
  EXPECT_EQ(empty.code, "empty_lead");
  EXPECT_THAT(empty.message, testing::StartsWith("leads[1] "));
  EXPECT_EQ(ReadText(R"({"lead": "Ada"})", LeadShape::kSingle).code, "invalid_lead");
  const Read unknown = ReadText(R"({"leads": [{"name": "Ada"}], "providers": ["mine", "x"]})");
  EXPECT_EQ(unknown.code, "unknown_provider");
  EXPECT_THAT(unknown.message, testing::EndsWith("of the mode PROFESSIONAL are: yours, mine"));
  const Read other = ReadText(R"({"leads": [{"name": "Ada"}], "providers": ["whois"]})");
  EXPECT_EQ(other.code, "provider_not_for_this");
  EXPECT_THAT(other.message, testing::EndsWith("; these do: yours, mine"));
}

TEST(FindBody, AReceiverIsHttpsAndPublic) {
  const net::AddressPolicy policy({});
  for (const std::string& url :
       {std::string("http://hooks.example.com/"), std::string(""), std::string("https://10.0.0.1/"),
        std::string("https://localhost/"), std::string("ftp://hooks.example.com/"),
        "https://hooks.example.com/" + std::string(2083, 'a')}) {
    const auto reply = test::RefusalOf([&] { ReadJobWebhook(url, policy); });
    ASSERT_TRUE(reply) << url;
    EXPECT_EQ(base::ParseJsonOrThrow(reply->body)["error"], "invalid_webhook_url");
  }
  EXPECT_EQ(ReadJobWebhook("https://hooks.example.com:8443/x", policy).port, 8443);
}

}  // namespace
}  // namespace vedette::api
