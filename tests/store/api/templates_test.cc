// Templates of workflows through the public API.
#include <gmock/gmock.h>

#include <set>

#include "domain/workflow/block_type.h"
#include "domain/workflow/template.h"
#include "store/workflows/templates.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiTemplates : public ApiRuns {
 public:
  // A template of the organisation's own.
  std::string NewTemplate(const std::string& org_id, const std::string& slug,
                          const Json& changes = Json::object()) {
    Json document{{"slug", slug},          {"name", "Own"},         {"description", "d"},
                  {"category", "own"},     {"difficulty", "easy"},  {"estimated_time", "seconds"},
                  {"use_case", "testing"}, {"author_name", "Acme"}, {"tags", Json::array({"mine"})},
                  {"featured", false},     {"internal", false}};
    const Json definition = Chain({WebhookSource(), Block("dedupe")});
    document["blocks"] = definition["blocks"];
    document["edges"] = definition["edges"];
    for (const auto& [name, value] : changes.items()) document[name] = value;
    const domain::DefinitionRules rules{[](const std::string&) { return std::nullopt; }, nullptr};
    const auto read = domain::ReadTemplate(document, Json::array(), rules);
    const auto made = store::CreateTemplate(session, clock, *base::Uuid::Parse(org_id),
                                            std::get<domain::WorkflowTemplate>(read), 200, {});
    EXPECT_EQ(made.kind, store::TemplateOutcome::Kind::kCreated);
    return made.id.ToString();
  }

  Reply Show(const std::string& key, const Headers& headers = {}) {
    return Ask("GET", "/templates/" + key, headers);
  }
};

TEST_F(ApiTemplates, ATemplateAnswersToItsSlugAndItsId) {
  const Reply by_slug = Show("watch-pricing-pages");
  ASSERT_EQ(by_slug.status, 200) << by_slug.raw.body;
  std::set<std::string> members;
  for (const auto& [name, value] : by_slug.body.items()) members.insert(name);
  EXPECT_EQ(members,
            (std::set<std::string>{"key", "scope", "id", "slug", "name", "description", "category",
                                   "difficulty", "estimated_time", "use_case", "blocks", "edges",
                                   "internal", "author_name", "tags", "featured", "preview_blocks",
                                   "created_at", "updated_at"}));
  EXPECT_EQ(by_slug.body["key"], "watch-pricing-pages");
  EXPECT_EQ(by_slug.body["scope"], "global");
  EXPECT_EQ(by_slug.body["internal"], false);
  EXPECT_EQ(by_slug.body["preview_blocks"], (Json::array({"read_csv", "dedupe", "monitor"})));
  const Reply by_id = Show(by_slug.body["id"]);
  EXPECT_EQ(by_id.body, by_slug.body);
}

// The build for ThreadSanitizer is one without libphonenumber (CMakePresets.json).
TEST_F(ApiTemplates, WithoutLibphonenumberTheBuildGoesOnAndItsBlockIsAbsent) {
  const bool has_phones = domain::FindBlockType("verify_phone") != nullptr;
  std::set<std::string> blocks;
  const Reply listed = Ask("GET", "/workflows/blocks");
  for (const Json& block : listed.body) blocks.insert(block["block_name"]);
  EXPECT_EQ(blocks.size(), has_phones ? 14U : 13U);
  EXPECT_EQ(blocks.contains("verify_phone"), has_phones);
  EXPECT_EQ(Show("clean-phone-list").status, has_phones ? 200 : 404);
  EXPECT_EQ(Show("verified-emails-from-csv").status, 200);
  const Json body{{"workflow_name", "phones"},
                  {"workflow_definition",
                   Chain({WebhookSource(), Block("verify_phone", {{"phone_column", "p"}})})}};
  const Reply made = Ask("POST", "/workflows/create_workflow", body);
  EXPECT_EQ(made.status, has_phones ? 200 : 422) << made.raw.body;
  if (!has_phones) {
    EXPECT_EQ(made.type(), "unknown_block");
  }
}

TEST_F(ApiTemplates, KeysThatStandForNothingAre404) {
  const std::string own = NewTemplate(acme.org_id, "own-one");
  const std::string hidden = NewTemplate(acme.org_id, "hidden", {{"internal", true}});
  for (const std::string& key :
       {std::string("nothing"), std::string("Watch-Pricing-Pages"), base::Uuid::V4().ToString(),
        std::string(201, 'a'), acme.org_id + ":own-one", acme.org_id + "%3Aown-one",
        acme.org_id + ":watch-pricing-pages", std::string(":watch-pricing-pages"),
        std::string("own-one"), std::string("hidden"), hidden}) {
    const Reply reply = Show(key);
    EXPECT_EQ(reply.status, 404) << key;
    EXPECT_EQ(reply.error(), "not_found");
  }
  EXPECT_EQ(Show(own).status, 200);
}

TEST_F(ApiTemplates, AnOrganisationsOwnIsItsAlone) {
  const std::string id = NewTemplate(acme.org_id, "own-one");
  const Reply own = Show(id);
  ASSERT_EQ(own.status, 200) << own.raw.body;
  EXPECT_EQ(own.body["key"], acme.org_id + ":own-one");
  EXPECT_EQ(own.body["scope"], "org");
  EXPECT_EQ(own.body["preview_blocks"], (Json::array({"webhook", "dedupe"})));
  const Tenant other = NewTenant("other");
  const Headers theirs{{"x-api-key", other.key}};
  EXPECT_EQ(Show(id, theirs).status, 404);
  EXPECT_EQ(Ask("GET", "/templates?category=own", theirs).body["templates"], Json::array());
  EXPECT_EQ(Ask("POST", "/workflows/create_workflow",
                Json{{"workflow_name", "w"}, {"template_key", id}}, theirs)
                .status,
            404);
  const Headers teammate{{"x-api-key", NewKey(acme.org_id, NewTeam(acme.org_id))}};
  EXPECT_EQ(Show(id, teammate).status, 200) << "it is the organisation's";
}

TEST_F(ApiTemplates, TheListHasTheShippedOnesThenTheOwnPageByPage) {
  const std::size_t shipped = domain::ShippedTemplates().size();
  const std::string first = NewTemplate(acme.org_id, "own-1");
  NewTemplate(acme.org_id, "own-2", {{"internal", true}});
  const std::string third = NewTemplate(acme.org_id, "own-3", {{"tags", Json::array({"x", "y"})}});
  const Reply whole = Ask("GET", "/templates");
  ASSERT_EQ(whole.status, 200) << whole.raw.body;
  EXPECT_FALSE(whole.body.contains("next_cursor"));
  std::vector<std::string> ids;
  for (const Json& shown : whole.body["templates"]) {
    ids.push_back(shown["id"]);
    EXPECT_FALSE(shown.contains("blocks"));
    EXPECT_FALSE(shown.contains("edges"));
  }
  ASSERT_EQ(ids.size(), shipped + 2);
  EXPECT_EQ(ids[shipped], first);
  EXPECT_EQ(ids[shipped + 1], third);
  std::vector<std::string> paged;
  std::string cursor;
  do {
    const Reply page =
        Ask("GET", "/templates?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.raw.body;
    for (const Json& shown : page.body["templates"]) paged.push_back(shown["id"]);
    cursor = page.body.value("next_cursor", "");
  } while (!cursor.empty());
  EXPECT_EQ(paged, ids);
  EXPECT_EQ(Ask("GET", "/templates?tag=y").body["templates"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/templates?category=monitoring").body["templates"][0]["slug"],
            "watch-pricing-pages");
  EXPECT_EQ(Ask("GET", "/templates?category=own&tag=mine").body["templates"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/templates?limit=0").status, 422);
  EXPECT_EQ(Ask("GET", "/templates?limit=101").status, 422);
  EXPECT_EQ(Ask("GET", "/templates?cursor=x").error(), "invalid_cursor");
}

TEST_F(ApiTemplates, AWorkflowBeginsWithATemplate) {
  const Json body{{"workflow_name", "prices"}, {"template_key", "watch-pricing-pages"}};
  const Headers key{{"idempotency-key", "k"}};
  const Reply made = Ask("POST", "/workflows/create_workflow", body, key);
  ASSERT_EQ(made.status, 200) << made.raw.body;
  const Reply shown = Show("watch-pricing-pages");
  EXPECT_EQ(made.body["workflow_definition"]["blocks"], shown.body["blocks"]);
  EXPECT_EQ(made.body["workflow_definition"]["edges"], shown.body["edges"]);
  const std::string id = made.body["id"];
  const Json change{{"workflow_definition", Chain({WebhookSource(), Block("dedupe")})}};
  ASSERT_EQ(Ask("POST", "/workflows/update_workflow?workflow_id=" + id, change).status, 200);
  EXPECT_EQ(Ask("POST", "/workflows/create_workflow", body, key).body, made.body)
      << "the first answer, not what became of it";
  Json both = body;
  both["workflow_definition"] = Chain({WebhookSource(), Block("dedupe")});
  EXPECT_EQ(Ask("POST", "/workflows/create_workflow", both).type(), "too_many");
  const auto refused = [&](const Json& template_key) {
    return Ask("POST", "/workflows/create_workflow",
               Json{{"workflow_name", "w"}, {"template_key", template_key}});
  };
  EXPECT_EQ(refused("nothing").status, 404);
  EXPECT_EQ(refused(5).type(), "string_type");
  EXPECT_EQ(refused(nullptr).type(), "missing");
  const std::string own = NewTemplate(acme.org_id, "own-one");
  EXPECT_EQ(refused(own).status, 200) << "by its id";
  EXPECT_EQ(refused(acme.org_id + ":own-one").status, 404);
}

}  // namespace
}  // namespace vedette::test
