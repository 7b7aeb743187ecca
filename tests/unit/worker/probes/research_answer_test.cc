#include "base/json.h"
#include "worker/probes/http_probe.h"

#include <gtest/gtest.h>

namespace vedette::worker {
namespace {

ProbeSpec Spec() {
  ProbeSpec spec;
  spec.monitor_id = *base::Uuid::Parse("01890000-0000-7000-8000-000000000001");
  spec.subject_type = domain::SubjectType::kLead;
  spec.tier = domain::Tier::kMedium;
  spec.watched = {{"title", "their job title"}, {"city", "where they live"}};
  return spec;
}

TEST(ResearchAnswer, TheRequestIsTheProtocols) {
  ProbeRequest request;
  request.check_id = *base::Uuid::Parse("01890000-0000-7000-8000-000000000002");
  request.row_id = *base::Uuid::Parse("01890000-0000-7000-8000-000000000003");
  request.spec = std::make_shared<const ProbeSpec>(Spec());
  request.subject = base::Json{{"email", "a@b.example"}};
  request.context = base::Json::object();
  request.known = base::Json{{"title", "CEO"}};
  request.until = base::ParseTimestamp("2026-01-02T03:04:05Z");
  const std::string members = ResearchMonitorMembers(*request.spec);
  EXPECT_EQ(ResearchRequestBody(request, members),
            R"({"check_id":"01890000-0000-7000-8000-000000000002",)"
            R"("row_id":"01890000-0000-7000-8000-000000000003",)"
            R"("monitor_id":"01890000-0000-7000-8000-000000000001","subject_type":"lead",)"
            R"("watched":{"title":"their job title","city":"where they live"},)"
            R"("tier":"medium","research_plan":null,)"
            R"("subject":{"email":"a@b.example"},"context":{},"known":{"title":"CEO"},)"
            R"("window":{"since":null,"until":"2026-01-02T03:04:05.000000Z"}})");
}

TEST(ResearchAnswer, AsksWithTheRowsTextAsItIsStored) {
  ProbeRequest request;
  request.spec = std::make_shared<const ProbeSpec>(Spec());
  request.subject = base::JsonText(std::string(R"({"n": 1.0, "n2":1e2})"));
  const std::string body = ResearchRequestBody(request, ResearchMonitorMembers(*request.spec));
  EXPECT_NE(body.find(R"("subject":{"n": 1.0, "n2":1e2},)"), std::string::npos) << body;
}

TEST(ResearchAnswer, ReadsObservedAbsentAndUnobservedFields) {
  const auto result = ParseResearchAnswer(
      R"({"values": {"title": {"value": "CTO", "evidence": "her page", "sources": ["https://x"],
          "confidence": 7.5}, "unwatched": 5}, "more": true})",
      Spec());
  const auto& fields = std::get<Observation>(result).fields;
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields.at("title").value.Value(), "CTO");
  EXPECT_EQ(fields.at("title").evidence, "her page");
  EXPECT_EQ(fields.at("title").sources, std::vector<std::string>{"https://x"});
  EXPECT_EQ(fields.at("title").confidence, 7.5);

  const auto absent = ParseResearchAnswer(
      R"({"values": {"city": {"value": null, "evidence": null, "sources": null}}})", Spec());
  EXPECT_TRUE(std::get<Observation>(absent).fields.at("city").value.Value().is_null());
  const auto scalars = ParseResearchAnswer(
      R"({"values": {"city": {"value": 5}, "title": {"value": false}}})", Spec());
  EXPECT_EQ(std::get<Observation>(scalars).fields.at("city").value.Value(), 5);
  EXPECT_EQ(std::get<Observation>(scalars).fields.at("title").value.Value(), false);
  EXPECT_TRUE(
      std::get<Observation>(ParseResearchAnswer(R"({"values":{}})", Spec())).fields.empty());
}

TEST(ResearchAnswer, AnythingElseIsInvalidAndNamesTheField) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "not an object"},
      {"{}", "values"},
      {R"({"values": []})", "values"},
      {R"({"values": {"title": "CTO"}})", "'title'"},
      {R"({"values": {"title": null}})", "'title'"},
      {R"({"values": {"title": {}}})", "'title'"},
      {R"({"values": {"title": {"value": {}}}})", "'title'"},
      {R"({"values": {"city": {"value": ["a"]}}})", "'city'"},
      {R"({"values": {"city": {"value": 1, "evidence": 1}}})", "'city'"},
      {R"({"values": {"city": {"value": 1, "sources": "x"}}})", "'city'"},
      {R"({"values": {"city": {"value": 1, "sources": [1]}}})", "'city'"},
      {R"({"values": {"city": {"value": 1, "confidence": "high"}}})", "'city'"},
      {R"({"values": {"city": {"value": ")" + std::string(domain::kValueBytesMax + 1, 'a') +
           R"("}}})",
       "'city'"},
      {std::string(100000, '['), "not JSON"},
  };
  for (const auto& [body, named] : cases) {
    const auto result = ParseResearchAnswer(body, Spec());
    const auto* failure = std::get_if<ProbeFailure>(&result);
    ASSERT_NE(failure, nullptr) << body.substr(0, 60);
    EXPECT_EQ(failure->error_class, "invalid_answer");
    EXPECT_FALSE(failure->retryable);
    EXPECT_NE(failure->message.find(named), std::string::npos) << failure->message;
  }
}

TEST(ResearchAnswer, EvidenceAndSourcesAreCut) {
  base::Json entry = {{"value", 1}, {"evidence", std::string(100000, 'e')}};
  for (int i = 0; i < 100; ++i) entry["sources"].push_back("https://x/" + std::to_string(i));
  const base::Json answer = {{"values", {{"city", entry}}}};
  const auto result = ParseResearchAnswer(base::DumpJson(answer), Spec());
  const auto& city = std::get<Observation>(result).fields.at("city");
  EXPECT_EQ(city.evidence.size(), kAnswerEvidenceCharactersMax);
  EXPECT_EQ(city.sources.size(), kAnswerSourcesMax);
}

}  // namespace
}  // namespace vedette::worker
