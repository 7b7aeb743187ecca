// Organisations' own templates of workflows through the admin port.
#include <gmock/gmock.h>

#include "tests/store/support/operator_support.h"

namespace vedette::test {
namespace {

using base::Json;

class AdminTemplates : public AdminTest {
 public:
  static Json Document(const Json& changes = Json::object()) {
    Json document = Json::parse(R"({
      "slug": "own-one", "name": "Own", "description": "d", "category": "c", "difficulty": "easy",
      "estimated_time": "a minute", "use_case": "u",
      "blocks": [{"sequence_number": 1, "block_name": "webhook", "block_id": "in",
                  "specs": {"dataframe_type": "LEAD"}},
                 {"sequence_number": 2, "block_name": "outgoing_webhook", "block_id": "out",
                  "specs": {"url": "https://hooks.example.com/"}}],
      "edges": [{"from_block_id": "in", "to_block_id": "out"}]})");
    for (const auto& [name, value] : changes.items()) document[name] = value;
    return document;
  }

  const std::string org = NewOrganisation("Acme");
  const std::string path = "/admin/v1/orgs/" + org + "/templates";
};

TEST_F(AdminTemplates, ATemplateIsMadeOnceAndDeleted) {
  const Reply made = Ask("POST", path, Document({{"reason", "asked for"}}));
  ASSERT_EQ(made.status, 201) << made.raw.body;
  const std::string id = made.body["id"];
  EXPECT_EQ(Sql("select slug || ' ' || (document ->> 'internal') from workflow_template"),
            "own-one false");
  const Reply again = Ask("POST", path, Document());
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.body["error"], "slug_taken");
  const std::string other = "/admin/v1/orgs/" + NewOrganisation("Other") + "/templates";
  EXPECT_EQ(Ask("DELETE", other + "/" + id).status, 404);
  EXPECT_EQ(Ask("POST", other, Document()).status, 201) << "slugs are an organisation's own";
  EXPECT_EQ(Ask("DELETE", path + "/" + id).status, 204);
  EXPECT_EQ(Ask("DELETE", path + "/" + id).status, 404);
  const Reply audit = Ask("GET", "/admin/v1/audit?org_id=" + org + "&action=template.create");
  ASSERT_EQ(audit.body["items"].size(), 1U);
  EXPECT_EQ(audit.body["items"][0]["reason"], "asked for");
  EXPECT_EQ(audit.body["items"][0]["target"], id);
}

TEST_F(AdminTemplates, WhatIsWrongIsNamed) {
  const auto type = [&](const Json& changes) {
    const Reply refused = Ask("POST", path, Document(changes));
    EXPECT_EQ(refused.status, 422) << refused.raw.body;
    return refused.body["detail"][0]["type"].get<std::string>();
  };
  EXPECT_EQ(type({{"slug", "Own"}}), "invalid_slug");
  EXPECT_EQ(type({{"colour", 1}}), "extra_forbidden");
  EXPECT_EQ(type({{"edges", Json::array()}}), "unreachable");
  Json blocks = Document()["blocks"];
  blocks[1]["specs"]["url"] = "http://127.0.0.1/";
  EXPECT_EQ(type({{"blocks", blocks}}), "invalid_url");
  blocks[1] = {{"sequence_number", 2},
               {"block_name", "find_email"},
               {"block_id", "out"},
               {"specs", {{"providers", Json::array({"nobody"})}}}};
  EXPECT_EQ(type({{"blocks", blocks}}), "unknown_provider");
  const std::string none = "/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/templates";
  EXPECT_EQ(Ask("POST", none, Document()).status, 404);
  EXPECT_EQ(Sql("select count(*) from workflow_template"), "0");
}

}  // namespace
}  // namespace vedette::test
