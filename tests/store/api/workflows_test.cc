// Saved workflows through the public API.
#include <gmock/gmock.h>

#include <map>

#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiWorkflows : public ApiRuns {
 public:
  static Json Body(const Json& changes = Json::object()) {
    Json body{{"workflow_name", "clean leads"},
              {"workflow_definition", Chain({WebhookSource(), Block("dedupe")})}};
    for (const auto& [name, value] : changes.items()) body[name] = value;
    return body;
  }
  Reply Create(const Json& changes = Json::object(), const Headers& headers = {}) {
    return Ask("POST", "/workflows/create_workflow", Body(changes), headers);
  }
};

TEST_F(ApiWorkflows, AWorkflowIsMadeShownListedChangedAndDeleted) {
  const Reply made = Create();
  ASSERT_EQ(made.status, 200) << made.raw.body;
  const std::string id = made.body["id"];
  for (const char* name : {"user_uuid", "last_run_date"}) {
    ASSERT_TRUE(made.body.contains(name));
    EXPECT_TRUE(made.body[name].is_null()) << name;
  }
  EXPECT_EQ(made.body["org_id"], acme.org_id);
  EXPECT_EQ(made.body["name"], "clean leads");
  EXPECT_EQ(made.body["description"], "");
  EXPECT_EQ(made.body["status"], "active");
  EXPECT_EQ(made.body["step"], "completed");
  EXPECT_EQ(made.body["workflow_definition"]["blocks"][1]["block_type"], "dedupe");
  EXPECT_EQ(Ask("GET", "/workflows/" + id).body, made.body);

  const std::string second = Create({{"workflow_name", "second"}}).body["id"];
  const Reply list = Ask("GET", "/workflows");
  ASSERT_EQ(list.body.size(), 2U);
  EXPECT_EQ(list.body[0]["id"], second);
  EXPECT_FALSE(list.body[1].contains("workflow_definition"));

  const Reply changed = Ask("POST", "/workflows/update_workflow?workflow_id=" + id,
                            Json{{"workflow_description", "of the CRM"}});
  ASSERT_EQ(changed.status, 200) << changed.raw.body;
  EXPECT_EQ(changed.body["description"], "of the CRM");
  EXPECT_EQ(changed.body["name"], "clean leads");
  EXPECT_EQ(changed.body["workflow_definition"], made.body["workflow_definition"]);

  const Reply deleted = Ask("POST", "/workflows/delete_workflow?workflow_id=" + id);
  EXPECT_EQ(deleted.status, 200) << deleted.raw.body;
  EXPECT_EQ(deleted.body["id"], id);
  EXPECT_EQ(Ask("GET", "/workflows/" + id).status, 404);
  EXPECT_EQ(Ask("POST", "/workflows/delete_workflow?workflow_id=" + id).status, 404);
  EXPECT_EQ(Ask("GET", "/workflows").body.size(), 1U);
}

TEST_F(ApiWorkflows, ADefinitionIsRefusedWithEverythingThatIsWrong) {
  Json definition = Chain({WebhookSource(), Block("dedupe"), Block("teleport")});
  definition["edges"][0]["condition"] = 1;
  const Reply refused = Create({{"workflow_definition", definition}});
  ASSERT_EQ(refused.status, 422);
  EXPECT_EQ(refused.loc(), R"(["body","workflow_definition","blocks",2,"block_name"])");
  EXPECT_EQ(refused.type(), "unknown_block");
  EXPECT_EQ(refused.body["detail"][0]["ctx"]["known"][0], "webhook");
  EXPECT_EQ(refused.body["detail"][1]["type"], "condition_reserved");
  EXPECT_EQ(refused.body["detail"][1]["loc"],
            Json::array({"body", "workflow_definition", "edges", 0, "condition"}));
  const Reply inside = Create(
      {{"workflow_definition",
        Chain({WebhookSource(), Block("outgoing_webhook", {{"url", "http://127.0.0.1/"}})})}});
  EXPECT_EQ(inside.type(), "invalid_url") << "what is not public is no receiver";
  const auto finding = [](const char* provider) {
    return Json{
        {"workflow_definition",
         Chain({WebhookSource(), Block("find_email", {{"providers", Json::array({provider})}})})}};
  };
  const Reply unknown = Create(finding("nobody"));
  EXPECT_EQ(unknown.status, 422);
  EXPECT_EQ(unknown.loc(), R"(["body","workflow_definition","blocks",1,"specs","providers",0])");
  EXPECT_EQ(unknown.type(), "unknown_provider");
  EXPECT_EQ(unknown.body["detail"][0]["ctx"]["known"],
            Json::array({"pattern", "store", "website"}));
  EXPECT_EQ(Create(finding("null")).type(), "unknown_provider") << "nobody may name who invents";
  EXPECT_EQ(Create(finding("pages")).type(), "provider_not_for_this") << "it finds no addresses";
  EXPECT_EQ(Sql("select count(*) from workflow"), "0");
  const Reply known = Create(finding("pattern"));
  ASSERT_EQ(known.status, 200) << known.raw.body;
  const Reply changed =
      Ask("POST", "/workflows/update_workflow?workflow_id=" + known.body["id"].get<std::string>(),
          finding("nobody"));
  EXPECT_EQ(changed.status, 422);
  EXPECT_EQ(changed.type(), "unknown_provider");
}

TEST_F(ApiWorkflows, TheBodyIsChecked) {
  const auto type = [&](const Json& changes) { return Create(changes).type(); };
  EXPECT_EQ(type({{"workflow_name", ""}}), "string_too_short");
  EXPECT_EQ(type({{"workflow_name", std::string(201, 'x')}}), "string_too_long");
  EXPECT_EQ(type({{"workflow_description", std::string(10'001, 'x')}}), "string_too_long");
  EXPECT_EQ(type({{"id", "no id"}}), "uuid_parsing");
  EXPECT_EQ(type({{"colour", 1}}), "extra_forbidden");
  EXPECT_EQ(type({{"workflow_definition", nullptr}}), "missing");
  const std::string id = Create().body["id"];
  const std::string update = "/workflows/update_workflow?workflow_id=" + id;
  EXPECT_EQ(Ask("POST", update, Json::object()).status, 422);
  EXPECT_EQ(Ask("POST", update, Json{{"workflow_name", nullptr}}).type(), "string_type");
  EXPECT_EQ(Ask("POST", "/workflows/update_workflow", Json{{"workflow_name", "a"}}).loc(),
            R"(["query","workflow_id"])");
  EXPECT_EQ(Ask("POST", "/workflows/delete_workflow").status, 422);
  EXPECT_EQ(Ask("POST", update + "0", Json{{"workflow_name", "a"}}).status, 404);
}

TEST_F(ApiWorkflows, AKeyMakesOneWorkflow) {
  const Headers key{{"idempotency-key", "k"}};
  const Reply first = Create({}, key);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  EXPECT_EQ(Create({}, key).body["id"], first.body["id"]);
  EXPECT_EQ(Create({{"workflow_name", "other"}}, key).type(), "idempotency_key_reused");
  EXPECT_EQ(Ask("POST", "/find-email-async", One(), key).status, 422) << "one key, one request";
  EXPECT_EQ(Sql("select count(*) from workflow"), "1");
  const std::string of = "?workflow_id=" + first.body["id"].get<std::string>();
  const Json change{
      {"workflow_name", "renamed"},
      {"workflow_description", "changed"},
      {"workflow_definition", Chain({WebhookSource(), Block("dedupe"), Block("dedupe")})}};
  ASSERT_EQ(Ask("POST", "/workflows/update_workflow" + of, change).status, 200);
  EXPECT_EQ(Create({}, key).body, first.body) << "the first answer, not what became of it";
  ASSERT_EQ(Ask("POST", "/workflows/run" + of, Json{{"webhook_payload", One()}}).status, 200);
  ASSERT_EQ(Ask("POST", "/workflows/delete_workflow" + of).status, 200);
  const Reply again = Create({}, key);
  EXPECT_EQ(again.status, 200) << again.raw.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(Sql("select answer from idempotency_key"), "{}") << "nothing that the body says";
}

TEST_F(ApiWorkflows, ADefinitionIsShownWithTheDigitsOfItsNumbers) {
  const std::string digits = "123456789012345678901";
  Json metadata;
  ASSERT_FALSE(base::ParseJson(R"({"n":)" + digits + R"(,"x":1.50,"y":1e2})", &metadata,
                               {.keep_numbers = true}));
  const Reply made =
      Create({{"workflow_definition",
               Chain({WebhookSource(), Block("monitor", {{"name", "m"},
                                                         {"key_columns", {"a"}},
                                                         {"struct", {{"b", "c"}}},
                                                         {"metadata", metadata}})})}});
  ASSERT_EQ(made.status, 200) << made.raw.body;
  const Reply shown = Ask("GET", "/workflows/" + made.body["id"].get<std::string>());
  for (const Reply& reply : {made, shown}) {
    EXPECT_THAT(reply.raw.body,
                testing::HasSubstr(R"("metadata":{"n":)" + digits + R"(,"x":1.50,"y":1e2})"));
  }
}

TEST_F(ApiWorkflows, AnIdIsTakenOnceAndThereAreSoManyAtMost) {
  const std::string id = base::Uuid::V4().ToString();
  EXPECT_EQ(Create({{"id", id}}).body["id"], id);
  const Reply taken = Create({{"id", id}});
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.error(), "conflict");
  Sql("insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id) "
      "select gen_random_uuid(), '" +
      acme.org_id + "', 'w', '', '{}', 0, gen_random_uuid() from generate_series(2, 1000)");
  const Reply full = Create();
  EXPECT_EQ(full.status, 409);
  EXPECT_EQ(full.error(), "too_many_workflows");
  Sql("delete from workflow where id = '" + id + "'");
  const Reply beside = AskBeside(
      "insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id) "
      "values (gen_random_uuid(), '" +
          acme.org_id + "', 'w', '', '{}', 0, gen_random_uuid())",
      [&] { return Create(); });
  EXPECT_EQ(beside.error(), "too_many_workflows") << beside.raw.body;
}

TEST_F(ApiWorkflows, TheListIsNewestFirstWhateverIdsClientsChoseAndInPagesWhereTheyAskForThem) {
  const std::vector<std::string> ids{"ffffffff-0000-4000-8000-000000000001",
                                     "00000000-0000-4000-8000-000000000002",
                                     "88888888-0000-4000-8000-000000000003"};
  for (const std::string& id : ids) {
    ASSERT_EQ(Create({{"id", id}}).status, 200);
  }
  const auto listed = [](const Reply& reply) {
    std::vector<std::string> found;
    for (const Json& workflow : reply.body) found.push_back(workflow["id"].get<std::string>());
    return found;
  };
  const Reply all = Ask("GET", "/workflows");
  EXPECT_EQ(listed(all), std::vector<std::string>(ids.rbegin(), ids.rend()));
  EXPECT_EQ(all.Header("X-Next-Cursor"), "");
  const Reply first = Ask("GET", "/workflows?limit=2");
  EXPECT_EQ(listed(first), (std::vector<std::string>{ids[2], ids[1]}));
  const std::string cursor = first.Header("X-Next-Cursor");
  ASSERT_NE(cursor, "");
  const Reply last = Ask("GET", "/workflows?limit=2&cursor=" + cursor);
  EXPECT_EQ(listed(last), std::vector<std::string>{ids[0]});
  EXPECT_EQ(last.Header("X-Next-Cursor"), "");
  EXPECT_EQ(listed(Ask("GET", "/workflows?cursor=" + cursor)), std::vector<std::string>{ids[0]});
  EXPECT_EQ(Ask("GET", "/workflows?limit=3").Header("X-Next-Cursor"), "");
  EXPECT_EQ(Ask("GET", "/workflows?cursor=x").error(), "invalid_cursor");
  EXPECT_EQ(Ask("GET", "/workflows?limit=0").type(), "greater_than_equal");
  EXPECT_EQ(Ask("GET", "/workflows?limit=1001").type(), "less_than_equal");
  // Pages end by their bytes, too.
  Sql("update workflow set description = repeat('d', 1100000)");
  const Reply large = Ask("GET", "/workflows?limit=2");
  EXPECT_EQ(listed(large), std::vector<std::string>{ids[2]});
  EXPECT_NE(large.Header("X-Next-Cursor"), "");
}

TEST_F(ApiWorkflows, AForeignWorkflowIsNotThere) {
  const std::string id = Create().body["id"];
  const Tenant other = NewTenant("other");
  const Headers theirs{{"x-api-key", other.key}};
  EXPECT_EQ(Ask("GET", "/workflows/" + id, theirs).status, 404);
  EXPECT_EQ(Ask("GET", "/workflows", theirs).body.size(), 0U);
  for (const char* route :
       {"/workflows/update_workflow", "/workflows/delete_workflow", "/workflows/run"}) {
    EXPECT_EQ(Ask("POST", std::string(route) + "?workflow_id=" + id, Json::object(), theirs).status,
              404)
        << route;
  }
  EXPECT_EQ(Ask("GET", "/workflows/" + id).status, 200);
  const Headers teammate{{"x-api-key", NewKey(acme.org_id, NewTeam(acme.org_id))}};
  EXPECT_EQ(Ask("GET", "/workflows/" + id, teammate).status, 200) << "it is the organisation's";
}

TEST_F(ApiWorkflows, TheBlocksAreListedWithTheirSchemas) {
  const Reply blocks = Ask("GET", "/workflows/blocks");
  ASSERT_EQ(blocks.status, 200);
  std::map<std::string, Json> by_name;
  for (const Json& block : blocks.body) {
    by_name[block["block_name"]] = block;
    EXPECT_EQ(block["specs_schema"]["additionalProperties"], false);
  }
  for (const char* name : {"webhook", "read_csv", "filter", "select_columns", "dedupe",
                           "enrich_lead", "enrich_company", "find_email", "verify_email",
                           "reverse_email", "verify_age", "outgoing_webhook", "monitor"}) {
    EXPECT_TRUE(by_name.contains(name)) << name;
  }
  EXPECT_EQ(by_name["webhook"]["input_types"], Json::array());
  EXPECT_EQ(by_name["webhook"]["block_type"], "source");
  EXPECT_EQ(by_name["filter"]["input_types"], (Json::array({"LEAD", "COMPANY"})));
  EXPECT_EQ(by_name["filter"]["price"], 0);
  EXPECT_EQ(by_name["enrich_company"]["output_type"], "COMPANY");
  for (const char* name : {"enrich_company", "find_email"}) {
    EXPECT_TRUE(by_name[name]["price"].is_null()) << name << " costs what its specs say";
  }
  EXPECT_EQ(by_name["verify_email"]["price"], 1);
  EXPECT_EQ(by_name["verify_email"]["input_types"], (Json::array({"LEAD", "COMPANY"})));
  EXPECT_EQ(by_name["reverse_email"]["price"], 5);
  EXPECT_EQ(by_name["verify_age"]["price"], 20);
  EXPECT_EQ(by_name["verify_age"]["input_types"], (Json::array({"LEAD"})));
}

}  // namespace
}  // namespace vedette::test
