#include "domain/people/people_answer.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::domain {
namespace {

constexpr const char* kAddress = "ada@engines.example";

PersonFound Named(const std::string& name, int confidence) {
  PersonFound person;
  person.name = name;
  person.confidence = confidence;
  return person;
}

TEST(PeopleAnswerTest, TheSurestNameIsThePersonsAndAnotherThatAgreesMakesItSurer) {
  PersonFound other = Named("ADA  Lovelace", 5);
  other.title = "Engineer";
  const auto answer =
      DecideReverse(kAddress, {{"a", Named("Ada Lovelace", 6)}, {"b", std::move(other)}}, {});
  EXPECT_EQ(answer.person.name, "Ada Lovelace");
  EXPECT_EQ(answer.person.confidence, 7);
  EXPECT_EQ(answer.person.title, "Engineer");
  EXPECT_EQ(answer.person.domain, "engines.example");
  EXPECT_TRUE(answer.person.candidates.empty());
}

TEST(PeopleAnswerTest, NamesThatAreUnsureOrInDisputeAreCandidates) {
  const auto unsure = DecideReverse(kAddress, {{"a", Named("Ada Lovelace", 4)}}, {});
  EXPECT_EQ(unsure.person.name, "");
  ASSERT_EQ(unsure.person.candidates.size(), 1U);
  EXPECT_EQ(unsure.reason, "nothing_found");
  const auto disputed = DecideReverse(
      kAddress, {{"a", Named("Ada Lovelace", 6)}, {"b", Named("Bob Babbage", 6)}}, {});
  EXPECT_EQ(disputed.person.name, "");
  EXPECT_EQ(disputed.person.candidates.size(), 2U);
}

TEST(PeopleAnswerTest, AnAddressOfARoleIsAnsweredAtOnceAndFree) {
  const auto role = ReverseAtOnce("info@engines.example");
  ASSERT_TRUE(role);
  EXPECT_EQ(role->reason, "role");
  EXPECT_EQ(role->person.domain, "engines.example");
  EXPECT_FALSE(IsReverseCharged(*role, ChargeRule::kAlways));
  EXPECT_EQ(ReverseAtOnce("x@mailinator.com")->reason, "disposable");
  EXPECT_EQ(ReverseAtOnce("nonsense")->end.error, kErrorInvalidEmail);
  EXPECT_FALSE(ReverseAtOnce(kAddress));
}

TEST(PeopleAnswerTest, TheEvidenceOfAnAgeNamesTheSourcesThatHadNothing) {
  AgeResult result;
  result.evidence = "a.example says: \"born in 1980\".";
  PeopleEnd end;
  end.tries = {{"pages", TryOutcome::kFound}, {"wikidata", TryOutcome::kNothing}};
  EXPECT_EQ(AgeCell(result, end, true).at("evidence"),
            "a.example says: \"born in 1980\". Looked at in vain: wikidata.");
  EXPECT_EQ(AgeCell(AgeResult(), end, false).at("evidence"), "Looked at in vain: wikidata.");
}

TEST(PeopleAnswerTest, ARuleOfChargeDecidesOfANameAndOfADate) {
  const auto named = DecideReverse(kAddress, {{"a", Named("Ada Lovelace", 6)}}, {});
  EXPECT_TRUE(IsReverseCharged(named, ChargeRule::kFound));
  EXPECT_FALSE(IsReverseCharged(named, ChargeRule::kOk));
  AgeResult year;
  year.date_of_birth.year = 1980;
  EXPECT_TRUE(IsAgeCharged(year, {}, ChargeRule::kFound));
  EXPECT_FALSE(IsAgeCharged(year, {}, ChargeRule::kOk));
  EXPECT_FALSE(IsAgeCharged(AgeResult(), {}, ChargeRule::kFound));
  EXPECT_TRUE(IsAgeCharged(AgeResult(), {}, ChargeRule::kAlways));
  AgeResult withheld;
  withheld.is_withheld = true;
  EXPECT_FALSE(IsAgeCharged(withheld, {}, ChargeRule::kAlways));
}

TEST(PeopleAnswerTest, RowsOfAJobThatEndedBeforeThemHaveItsEndAsError) {
  PeopleRequest request;
  request.rows.push_back({base::Json{{"email", kAddress}}, std::nullopt});
  const auto results = PeopleResults(PeopleQuestion::kReverseEmail, request, {}, "cancelled");
  EXPECT_EQ(results[0]["email"], kAddress);
  EXPECT_EQ(results[0]["error"], "cancelled");
  EXPECT_EQ(results[0]["details"]["charged"], false);
  const auto age = PeopleResults(PeopleQuestion::kVerifyAge, request, {}, "timed_out");
  EXPECT_EQ(age[0]["error"], "timed_out");
  EXPECT_TRUE(age[0]["date_of_birth"]["year"].is_null());
}

TEST(PeopleAnswerTest, WhatIsStoredOfARequestIsReadAgain) {
  PeopleRequest request;
  request.providers = {"a"};
  request.minimum_age = 18;
  request.rows.push_back(
      {base::ReadJsonCell(R"({"url":"https://a.example/","price":1.10})"), std::nullopt});
  const auto read = ReadPeopleRequest(PeopleParamsJson(request));
  EXPECT_EQ(read.providers, request.providers);
  EXPECT_EQ(read.minimum_age, 18);
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(base::DumpJson(read.rows[0].lead.Value()),
            R"({"url":"https://a.example/","price":1.10})");
  EXPECT_TRUE(ReadPeopleRequest(PeopleSpecsJson(request)).rows.empty());
  EXPECT_TRUE(std::holds_alternative<AgeSubject>(ReadSubject(read.rows[0].lead.Value())));
  EXPECT_THROW(ReadPeopleRequest("{}"), std::invalid_argument);
}

TEST(PeopleAnswerTest, AWebsiteThatNamesAPageIsAPageOfTheSubject) {
  const auto urls = [](const base::Json& subject) {
    return std::get<AgeSubject>(ReadSubject(subject)).urls;
  };
  using Urls = std::vector<std::string>;
  EXPECT_EQ(urls({{"website", "https://a.example/team/ada"}}), Urls{"https://a.example/team/ada"});
  EXPECT_EQ(urls({{"website", " a.example/ada?x=1 "}}), Urls{"https://a.example/ada?x=1"});
  EXPECT_EQ(urls({{"website", "https://a.example/ada"}, {"url", "https://a.example/ada"}}),
            Urls{"https://a.example/ada"});
  EXPECT_EQ(urls({{"website", "https://a.example/ada"}, {"url", "https://b.example/"}}),
            (Urls{"https://b.example/", "https://a.example/ada"}));
  for (const char* host :
       {"a.example", "https://a.example", "https://a.example/", "a.example/#x"}) {
    EXPECT_EQ(urls({{"website", host}}), Urls{}) << host;
  }
  EXPECT_EQ(urls({{"website", "no domain/at all"}, {"name", "Ada"}}), Urls{});
}

TEST(PeopleAnswerTest, ASubjectOfWhichNothingIsKnownIsToldWhatMayBe) {
  const auto fault = std::get<LeadFault>(ReadSubject({{"own", 1}}));
  EXPECT_EQ(fault.kind, LeadFault::Kind::kEmpty);
  EXPECT_TRUE(fault.message.ends_with(", title, location, url, urls")) << fault.message;
}

TEST(PeopleAnswerTest, NamesAreShownWithoutControlCharactersAndTurns) {
  EXPECT_EQ(CleanName("  Ada\n\u202ELovelace\u200F\t"), "Ada Lovelace");
}

}  // namespace
}  // namespace vedette::domain
