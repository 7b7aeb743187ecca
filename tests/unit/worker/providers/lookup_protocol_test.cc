#include "worker/providers/lookup_protocol.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/json.h"

namespace vedette::worker {
namespace {

using domain::AddressStatus;
using domain::Candidates;

std::string ErrorOf(std::string_view body) {
  const auto answer = ParseLookupAnswer(body, true);
  const auto* failure = std::get_if<domain::Failure>(&answer);
  if (failure == nullptr) return "";
  EXPECT_EQ(failure->error_class, "invalid_answer");
  EXPECT_FALSE(failure->retryable);
  return failure->message;
}

TEST(LookupProtocol, AServiceIsToldThePersonAndTheRow) {
  LookupRequest request;
  request.row_id = *base::Uuid::Parse("01234567-89ab-5def-8123-456789abcdef");
  request.job_id = *base::Uuid::Parse("11234567-89ab-7def-8123-456789abcdef");
  request.mode = domain::FindMode::kPersonal;
  auto person = std::make_shared<domain::Person>();
  person->name = "Ann";
  request.person = person;
  request.timeout = std::chrono::milliseconds(1500);
  EXPECT_EQ(LookupBody(request),
            R"({"lookup":"find_email","row_id":"01234567-89ab-5def-8123-456789abcdef",)"
            R"("task_id":"11234567-89ab-7def-8123-456789abcdef","mode":"PERSONAL",)"
            R"("person":{"name":"Ann","first_name":null,"last_name":null,"company":null,)"
            R"("domain":null,"linkedin":null,"email":null,"personal_email":null,"title":null,)"
            R"("location":null},"verify":true,"timeout_ms":1500})");
}

TEST(LookupProtocol, CandidatesAreReadWithWhatTheyHave) {
  const auto answer = ParseLookupAnswer(
      R"({"candidates": [
        {"email": " ann@acme.com ", "status": "OK", "confidence": 7.6, "sources": ["https://a/"],
         "quote": "ann@acme.com"},
        {"email": "b@acme.com", "status": null, "more": 1}, {"email": "c@acme.com", "status": "NOT_FOUND"}]})",
      true);
  const auto& candidates = std::get<Candidates>(answer);
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(candidates[0].address, "ann@acme.com");
  EXPECT_EQ(candidates[0].status, AddressStatus::kOk);
  EXPECT_EQ(candidates[0].confidence, 8);
  EXPECT_EQ(candidates[0].sources, std::vector<std::string>{"https://a/"});
  EXPECT_EQ(candidates[0].quote, "ann@acme.com");
  EXPECT_EQ(candidates[1].status, AddressStatus::kUnknown);
  EXPECT_EQ(candidates[1].confidence, domain::kConfidenceStated);
  EXPECT_EQ(candidates[2].status, AddressStatus::kNotFound);
  EXPECT_EQ(candidates[2].confidence, 0);
}

TEST(LookupProtocol, AnOkOfAServiceThatIsNotTrustedIsUnknown) {
  const auto answer =
      ParseLookupAnswer(R"({"candidates": [{"email": "a@x.org", "status": "OK"}]})", false);
  EXPECT_EQ(std::get<Candidates>(answer).at(0).status, AddressStatus::kUnknown);
  EXPECT_EQ(std::get<Candidates>(answer).at(0).confidence, domain::kConfidenceStated);
}

TEST(LookupProtocol, ASourceIsAWebAddress) {
  const auto answer = ParseLookupAnswer(
      R"({"candidates": [{"email": "a@x.org", "sources": ["javascript:x", "http://a/", "x"]}]})",
      true);
  EXPECT_EQ(std::get<Candidates>(answer).at(0).sources, std::vector<std::string>{"http://a/"});
}

TEST(LookupProtocol, NothingIsAnAnswer) {
  for (const char* body : {"{}", R"({"candidates": null})", R"({"candidates": []})",
                           R"({"candidates": [{"email": "no address"}]})",
                           R"({"candidates": [{"email": "a@x.org\r\nRCPT TO:<b@y.org>"}]})"}) {
    EXPECT_TRUE(std::holds_alternative<Nothing>(ParseLookupAnswer(body, true))) << body;
  }
}

TEST(LookupProtocol, WhatIsNoAnswerIsAFailureThatNamesNoValue) {
  for (const char* body :
       {"", "<html>", "[]", "5", R"({"candidates": {}})", R"({"candidates": ["SECRET@x.org"]})",
        R"({"candidates": [{}]})", R"({"candidates": [{"email": 5}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "status": "SECRET"}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "status": 1}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "confidence": "SECRET"}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "sources": "SECRET"}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "sources": [1]}]})",
        R"({"candidates": [{"email": "SECRET@x.org", "quote": 1}]})", "SECRET"}) {
    const std::string message = ErrorOf(body);
    EXPECT_NE(message, "") << body;
    EXPECT_EQ(message.find("SECRET"), std::string::npos) << message;
  }
}

TEST(LookupProtocol, AnAnswerIsCutToItsLimits) {
  base::Json entry{{"email", "a@x.org"}, {"confidence", 99}, {"quote", std::string(1000, 'q')}};
  entry["sources"] = base::Json::array({std::string(5000, 's')});
  for (int i = 0; i < 20; ++i) entry["sources"].push_back("https://s/" + std::to_string(i));
  base::Json body = base::Json::object();
  for (int i = 0; i < 100; ++i) body["candidates"].push_back(entry);
  const auto answer = ParseLookupAnswer(base::DumpJson(body), true);
  const auto& candidates = std::get<Candidates>(answer);
  EXPECT_EQ(candidates.size(), kAnswerCandidatesMax);
  EXPECT_EQ(candidates[0].confidence, domain::kConfidenceMax);
  EXPECT_EQ(candidates[0].quote.size(), domain::kCandidateQuoteCharactersMax);
  EXPECT_EQ(candidates[0].sources.size(), domain::kCandidateSourcesMax);
  EXPECT_EQ(candidates[0].sources[0], "https://s/0");
}

// The members that the published schema names are those that are sent and read.
TEST(LookupProtocol, TheSchemaNamesWhatIsSent) {
  std::ifstream file(VEDETTE_SOURCE_DIR "/docs/lookup.schema.json");
  std::stringstream text;
  text << file.rdbuf();
  const base::Json schema = base::ParseJsonOrThrow(text.str());
  LookupRequest request;
  request.person = std::make_shared<domain::Person>();
  request.address = "ada@engines.example";
  request.urls = {"https://engines.example/ada"};
  const base::Json sent = base::ParseJsonOrThrow(LookupBody(request));
  const auto names = [](const base::Json& object) {
    std::set<std::string> out;
    for (const auto& [name, value] : object.items()) out.insert(name);
    return out;
  };
  const base::Json& definitions = schema.at("$defs");
  EXPECT_EQ(names(definitions.at("lookup").at("properties")), names(sent));
  EXPECT_EQ(names(definitions.at("person").at("properties")), names(sent.at("person")));
  EXPECT_EQ(names(definitions.at("candidate").at("properties")),
            (std::set<std::string>{"email", "status", "confidence", "sources", "quote"}));
}

TEST(LookupProtocol, AServiceThatVerifiesIsToldTheAddressAndGivesAVerdict) {
  LookupRequest request;
  request.lookup = Lookup::kVerifyEmail;
  request.address = "ann@acme.com";
  const base::Json sent = base::ParseJsonOrThrow(LookupBody(request));
  EXPECT_EQ(sent.at("lookup"), "verify_email");
  EXPECT_EQ(sent.at("address"), "ann@acme.com");
  EXPECT_FALSE(sent.contains("person"));
  const auto verdict = [](std::string_view body) {
    return std::get<domain::AddressVerdict>(ParseVerdictAnswer(body, base::Timestamp()));
  };
  EXPECT_EQ(verdict(R"({"status": "OK"})").verdict, domain::Verdict::kOk);
  EXPECT_EQ(verdict(R"({"status": "NOT_FOUND"})").reason, domain::VerdictReason::kRefused);
  EXPECT_EQ(verdict(R"({"status": "UNKNOWN", "reason": "catch_all"})").reason,
            domain::VerdictReason::kCatchAll);
  EXPECT_EQ(verdict("{}").verdict, domain::Verdict::kUnknown);
  for (const char* body : {"", "[]", R"({"status": "ok"})", R"({"status": 1})"}) {
    EXPECT_TRUE(
        std::holds_alternative<domain::Failure>(ParseVerdictAnswer(body, base::Timestamp())))
        << body;
  }
}

}  // namespace
}  // namespace vedette::worker
