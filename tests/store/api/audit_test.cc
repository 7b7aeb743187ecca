// Every public request that changes something leaves one entry: who, on whose behalf, what.
#include <gtest/gtest.h>

#include <set>

#include "config/auth_config.h"
#include "config/security_config.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiAudit : public ApiTest {
 public:
  ApiAudit() {
    Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'bob')");
  }
  // Asks for bob, and expects a good answer and one entry of this action and target.
  Reply Change(const std::string& path, const Json& body, const std::string& action,
               const std::string& target = "") {
    return ChangeBy("POST", path, body, action, target);
  }
  Reply ChangeBy(const std::string& method, const std::string& path, const Json& body,
                 const std::string& action, const std::string& target = "") {
    net::ServerRequest request = Request(method, path, {{"service-forwarded-user", "bob"}});
    if (body.is_string()) {
      request.headers.emplace_back("content-type", "text/csv");
      request.body = body.get<std::string>();
    } else if (!body.is_null()) {
      request.headers.emplace_back("content-type", "application/json");
      request.body = body.dump();
    }
    return Validate(std::move(request), action, target);
  }
  Reply Validate(net::ServerRequest request, const std::string& action, const std::string& target) {
    const std::string path = request.path;
    Sql("delete from audit");
    Reply reply = AskRaw(std::move(request));
    EXPECT_LT(reply.status, 300) << path << reply.raw.body;
    EXPECT_EQ(Sql("select count(*) from audit"), "1") << path;
    EXPECT_EQ(Sql("select action from audit"), action);
    EXPECT_EQ(
        Sql("select actor like 'key vd_live_%' and principal_kind = 0 and on_behalf_of = 'bob' "
            "and org_id = '" +
            acme.org_id +
            "' and exists (select from api_key k where k.id = principal_id) "
            "from audit"),
        "t");
    if (!target.empty()) {
      EXPECT_EQ(Sql("select target from audit"), target);
    }
    return reply;
  }
};

TEST_F(ApiAudit, EveryChangeToAMonitorAndItsRowsHasOneEntry) {
  const Reply made = Change("/monitors", GoodBody(), "monitor.create");
  const std::string id = made.body["id"];
  const std::string row = made.body["rows"][0]["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  const std::string path = "/monitors/" + id;
  Change(path + "/update", Json{{"name", "secret name"}, {"tier", "low"}}, "monitor.update", id);
  EXPECT_EQ(Sql("select detail->>'members' from audit"), R"(["name","tier"])");
  EXPECT_EQ(Sql("select detail::text like '%secret%' from audit"), "f");
  Change(path + "/rows", Json{{"rows", {{{"domain", "c.example"}}}}}, "row.add", id);
  Change(path + "/rows/" + row + "/update", Json{{"is_active", false}}, "row.switch", row);
  Change(path + "/rows/" + row + "/update", Json{{"columns", {{"note", "m"}}}}, "row.update", row);
  Change(path + "/rows/" + row + "/remove", Json::object(), "row.remove", row);
  Change(path + "/trigger", Json::object(), "monitor.trigger", id);
  Change(path + "/cancel", Json::object(), "monitor.cancel", id);
  Change(path + "/archive", Json::object(), "monitor.archive", id);
  ChangeBy("DELETE", path, nullptr, "monitor.delete", id);
}

TEST_F(ApiAudit, EveryChangeToAClientItsKeysAndItsTokensHasOneEntry) {
  const Json named{{"name", "billing"}};
  const std::string id = Change("/oauth/clients", named, "oauth_client.create").body["client_id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  const std::string path = "/oauth/clients/" + id;
  ChangeBy("PATCH", path, Json{{"name", "b"}}, "oauth_client.update", id);
  const Json key{{"public_key_pem", test::NewKey("P-256").PublicPem()}, {"kid", "k1"}};
  Change(path + "/keys", key, "oauth_client.key.add", id);
  EXPECT_EQ(Sql("select detail->>'kid' from audit"), "k1");
  EXPECT_EQ(Sql("select audit::text like '%BEGIN%' from audit"), "f");
  Change(path + "/revoke-tokens", Json::object(), "oauth_client.revoke_tokens", id);
  ChangeBy("DELETE", path + "/keys/k1", nullptr, "oauth_client.key.revoke", id);
  ChangeBy("DELETE", path, nullptr, "oauth_client.delete", id);
  const Json published{{"name", "p"}, {"jwks_uri", "https://client.example/jwks"}};
  const std::string second =
      Change("/oauth/clients", published, "oauth_client.create").body["client_id"];
  Change("/oauth/clients/" + second + "/validate-jwks", Json::object(),
         "oauth_client.validate_keys", second);
}

TEST_F(ApiAudit, AnUploadACancelledJobAndEveryChangeToAWorkflowHaveOneEntry) {
  const Reply upload =
      ChangeBy("POST", "/storage/csv/upload", Json("domain\na.example\n"), "upload.create");
  EXPECT_EQ(Sql("select target from audit"), upload.body["handle_id"].get<std::string>());
  Sql("update account set balance_mc = 1000000");
  const Json lead{{"lead", {{"name", "Ada Lovelace"}, {"domain", "a.example"}}}};
  const std::string job = Ask("POST", "/find-email-async", lead).body["task_id"];
  Change("/job-status/" + job + "/cancel", Json::object(), "job.cancel", job);
  // A run of a source alone would end with its start.
  const Json definition = Json::parse(R"({
      "blocks": [{"sequence_number": 1, "block_id": "1", "block_name": "webhook",
                  "specs": {"dataframe_type": "LEAD"}},
                 {"sequence_number": 2, "block_id": "2", "block_name": "dedupe", "specs": {}}],
      "edges": [{"from_block_id": "1", "to_block_id": "2"}]})");
  const Json workflow{{"workflow_name", "w"}, {"workflow_definition", definition}};
  const std::string id =
      Change("/workflows/create_workflow", workflow, "workflow.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  const std::string query = "?workflow_id=" + id;
  Change("/workflows/update_workflow" + query, Json{{"workflow_name", "secret"}}, "workflow.update",
         id);
  EXPECT_EQ(Sql("select detail::text from audit"), R"({"members":["workflow_name"]})");
  const std::string run =
      Ask("POST", "/workflows/run" + query, Json{{"webhook_payload", {{"a", 1}}}}).body["job_id"];
  Change("/workflows/cancel?job_id=" + run, Json::object(), "run.cancel", run);
  Change("/workflows/delete_workflow" + query, Json::object(), "workflow.delete", id);
}

TEST_F(ApiAudit, EveryChangeToAnExclusionListHasOneEntry) {
  const Json named{{"name", "secret"}, {"entity_type", "company"}};
  const std::string id =
      Change("/search/exclusion-lists", named, "search_exclusion.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  const std::string path = "/search/exclusion-lists/" + id;
  Change(path + "/entities", Json{{"entity_ids", {"c-1"}}}, "search_exclusion.fill", id);
  Change(path + "/ready", Json::object(), "search_exclusion.ready", id);
  ChangeBy("DELETE", path, nullptr, "search_exclusion.delete", id);
}

TEST_F(ApiAudit, EveryChangeToKeysSecretsAndDeliveriesHasOneEntry) {
  config.security.encryption_key = std::string(32, 'k');
  const std::string key =
      Change("/account/api-keys", Json{{"name", "k"}}, "api_key.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), key);
  Change("/account/api-keys/" + key + "/revoke", Json::object(), "api_key.revoke", key);
  const std::string secrets = "/account/signing-secrets";
  const std::string first = Change(secrets, Json::object(), "signing_secret.create").body["id"];
  Change(secrets + "/roll", Json::object(), "signing_secret.roll");
  Change(secrets + "/" + first + "/revoke", Json::object(), "signing_secret.revoke", first);
  NewMonitor({{"webhook_url", "https://hooks.example.com/"}});
  Sql("insert into delivery (id, org_id, monitor_id, row_id, event_group_id, type, state, "
      "available_at, attempts, endpoint_id) select gen_random_uuid(), m.org_id, m.id, r.id, "
      "gen_random_uuid(), 0, 1, now(), 12, m.endpoint_id from monitor m join monitor_row r on "
      "r.monitor_id = m.id limit 1");
  const std::string delivery = Sql("select id from delivery");
  Change("/account/deliveries/replay", Json::object(), "delivery.replay_many");
  Change("/account/deliveries/" + delivery + "/resend", Json::object(), "delivery.send", delivery);
}

TEST_F(ApiAudit, EveryChangeToMembersAndInvitationsHasOneEntry) {
  config.dashboard.enabled = true;
  const Json order{{"email", "ada@example.com"}, {"role", "viewer"}};
  const std::string id = Change("/account/invitations", order, "invitation.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  ChangeBy("DELETE", "/account/invitations/" + id, nullptr, "invitation.withdraw", id);
  Sql("insert into org_user (org_id, user_id, role) values ('" + acme.org_id +
      "', 'ada@example.com', 0), ('" + acme.org_id + "', 'bob@example.com', 2)");
  const std::string ada = "/account/members/ada%40example.com";
  Change(ada + "/update", Json{{"role", "member"}}, "member.update", "ada@example.com");
  Change(ada + "/reset", Json::object(), "password.reset_link", "ada@example.com");
  ChangeBy("DELETE", ada, nullptr, "member.remove", "ada@example.com");
}

TEST_F(ApiAudit, EveryChangeToAChannelHasOneEntryWithoutItsAddress) {
  const Json channel{
      {"name", "n"}, {"kind", "webhook"}, {"target", {{"url", "https://hooks.example/secret"}}}};
  const std::string id = Change("/channels", channel, "channel.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  Change("/channels/" + id + "/update", Json{{"name", "secret"}}, "channel.update", id);
  Change("/account/channels", Json{{"channel_ids", {id}}}, "account.channels", acme.org_id);
  ChangeBy("DELETE", "/channels/" + id, nullptr, "channel.delete", id);
}

TEST_F(ApiAudit, EveryChangeToAScheduleOfAWorkflowHasOneEntry) {
  const Json source{
      {"sequence_number", 1}, {"block_name", "webhook"}, {"specs", {{"dataframe_type", "LEAD"}}}};
  const Json flow{
      {"workflow_name", "w"},
      {"workflow_definition", {{"blocks", Json::array({source})}, {"edges", Json::array()}}}};
  const std::string path =
      "/workflows/" +
      Ask("POST", "/workflows/create_workflow", flow).body["id"].get<std::string>() + "/schedules";
  const Json body{{"name", "n"}, {"frequency", "1d"}, {"webhook_payload", {{"a", 1}}}};
  const std::string id = Change(path, body, "schedule.create").body["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  Change(path + "/" + id + "/update", Json{{"name", "m"}}, "schedule.update", id);
  ChangeBy("DELETE", path + "/" + id, nullptr, "schedule.delete", id);
}

// What changes nothing that lasts, and jobs, which say in their own row who has started them.
const std::set<std::string> kWithoutAnEntry = {
    "/monitors/preview",
    "/monitors/{monitor_id}/webhook/test",
    "/channels/{channel_id}/test",
    "/mail-addresses/{address_id}",
    "/search/filter-field-values",
    "/find-email",
    "/find-email-async",
    "/find-email-bulk",
    "/find-email-bulk-async",
    "/reverse-email",
    "/reverse-email-async",
    "/reverse-email-bulk",
    "/reverse-email-bulk-async",
    "/verify-age",
    "/v1/atlas/investigations",
    "/workflows/run",
    "/workflows/{workflow_id}/schedules/{schedule_id}/trigger",
    "/dashboard/passkeys/options",
    "/schedules/preview"};
// Those above whose entries the tests of this file look for.
const std::set<std::string> kWithAnEntry = {
    "/monitors",
    "/monitors/{monitor_id}/update",
    "/monitors/{monitor_id}/rows",
    "/monitors/{monitor_id}/rows/{row_id}/update",
    "/monitors/{monitor_id}/rows/{row_id}/remove",
    "/monitors/{monitor_id}/trigger",
    "/monitors/{monitor_id}/cancel",
    "/monitors/{monitor_id}/archive",
    "/monitors/{monitor_id}",
    "/channels",
    "/channels/{channel_id}",
    "/channels/{channel_id}/update",
    "/account/channels",
    "/oauth/clients",
    "/oauth/clients/{client_id}",
    "/oauth/clients/{client_id}/keys",
    "/oauth/clients/{client_id}/keys/{kid}",
    "/oauth/clients/{client_id}/revoke-tokens",
    "/oauth/clients/{client_id}/validate-jwks",
    "/account/api-keys",
    "/account/api-keys/{key_id}/revoke",
    "/account/signing-secrets",
    "/account/signing-secrets/roll",
    "/account/signing-secrets/{secret_id}/revoke",
    "/account/members/{email}",
    "/account/members/{email}/update",
    "/account/members/{email}/reset",
    "/account/invitations",
    "/account/invitations/{invitation_id}",
    "/dashboard/session",
    "/dashboard/sessions",
    "/dashboard/passkeys",
    "/dashboard/passkeys/{passkey_id}",
    "/dashboard/password",
    "/account/deliveries/replay",
    "/account/deliveries/{delivery_id}/resend",
    "/storage/csv/upload",
    "/job-status/{task_id}/cancel",
    "/search/exclusion-lists",
    "/search/exclusion-lists/{list_id}",
    "/search/exclusion-lists/{list_id}/entities",
    "/search/exclusion-lists/{list_id}/ready",
    "/workflows/create_workflow",
    "/workflows/update_workflow",
    "/workflows/delete_workflow",
    "/workflows/{workflow_id}/schedules",
    "/workflows/{workflow_id}/schedules/{schedule_id}",
    "/workflows/{workflow_id}/schedules/{schedule_id}/update",
    "/workflows/cancel"};

TEST_F(ApiAudit, EveryRouteThatChangesSomethingIsAmongThese) {
  for (const api::Route* route : CredentialRoutes()) {
    if (route->method == "GET") continue;
    const std::string path(route->pattern);
    EXPECT_EQ(kWithoutAnEntry.count(path) + kWithAnEntry.count(path), 1U)
        << "say here whether " << path << " leaves an entry";
  }
}

TEST_F(ApiAudit, WhatIsRefusedOrRepeatedLeavesNone) {
  const Headers key{{"idempotency-key", "k"}};
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), key).status, 200);
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), key).status, 200);
  EXPECT_EQ(Sql("select count(*) from audit"), "1");
  EXPECT_EQ(Ask("POST", "/monitors", Json::object()).status, 422);
  EXPECT_EQ(Ask("GET", "/monitors").status, 200);
  EXPECT_EQ(Sql("select count(*) from audit"), "1");
}

}  // namespace
}  // namespace vedette::test
