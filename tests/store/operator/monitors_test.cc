#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>

#include "api/operator/admin.h"
#include "domain/monitor/row_values.h"
#include "store/monitors/monitors.h"
#include "tests/store/support/operator_support.h"
#include "tests/store/support/tenant_support.h"

// The operator makes and changes monitors: the admin port decides who and for whom, and the public
// API everything else.
namespace vedette::test {
namespace {

using base::Json;

class FakeTenantApi final : public admin::TenantApi {
 public:
  void Call(Request request, Done done) override {
    asked.push_back(std::move(request));
    done({422, {{"X-Request-Id", "inner"}}, R"({"detail":[]})"});
  }
  std::vector<Request> asked;
};

class AdminMonitors : public AdminTest {
 public:
  Reply AskTenant(const std::string& target, const std::string& body,
                  const std::string& method = "POST") {
    net::ServerRequest request = Request(
        method, target,
        {{"authorization", std::string("Bearer ") + kToken}, {"content-type", "application/json"}});
    request.body = body;
    return AskRaw(std::move(request), with_api);
  }

  FakeTenantApi tenant_api;
  admin::Admin with_api{config, pool,   signals,     clock, metrics,
                        state,  fields, key_fetcher, log,   &tenant_api};
};

TEST_F(AdminMonitors, TheReasonOfWhatIsAskedForAnOrganisationIsTheAuditsAlone) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation();
  const std::string channel = path + "/channels/" + base::Uuid::V4().ToString();
  EXPECT_EQ(AskTenant(path + "/monitors", R"({"name":"n","reason":"they asked"})").status, 422);
  EXPECT_EQ(AskTenant(channel, R"({"reason":"a mistake"})", "DELETE").status, 422);
  EXPECT_EQ(AskTenant(channel, "", "DELETE").status, 422);
  ASSERT_EQ(tenant_api.asked.size(), 3U);
  EXPECT_EQ(tenant_api.asked[0].body, R"({"name":"n"})");
  EXPECT_EQ(tenant_api.asked[0].reason, "they asked");
  EXPECT_EQ(tenant_api.asked[1].body, "");
  EXPECT_EQ(tenant_api.asked[1].reason, "a mistake");
  EXPECT_EQ(tenant_api.asked[2].reason, std::nullopt);
  EXPECT_EQ(AskTenant(path + "/monitors", R"({"reason":5})").status, 422);
  EXPECT_EQ(AskTenant(channel, R"({"why":"a mistake"})", "DELETE").status, 422);
  EXPECT_EQ(tenant_api.asked.size(), 3U) << "what this port refuses is not asked";
}

TEST_F(AdminMonitors, NumbersBesideAReasonGoOnAsTheyAreWritten) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation() + "/monitors";
  AskTenant(path, R"({"metadata":{"n":12345678901234567890123,"p":1.10},"reason":"asked"})");
  ASSERT_EQ(tenant_api.asked.size(), 1U);
  EXPECT_EQ(tenant_api.asked[0].body, R"({"metadata":{"n":12345678901234567890123,"p":1.10}})");
}

TEST_F(AdminMonitors, WhatIsAskedForAnOrganisationIsThePublicApisToCheck) {
  const std::string org = NewOrganisation();
  const std::string monitor = base::Uuid::V4().ToString();
  const std::string path = "/admin/v1/orgs/" + org + "/monitors";
  EXPECT_EQ(AskTenant(path, R"({"name":"n"})").status, 422);
  EXPECT_EQ(AskTenant(path + "/preview", "{}").status, 422);
  EXPECT_EQ(AskTenant(path + "/" + monitor + "/update", "{}").raw.body, R"({"detail":[]})");
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + org + "/schedules/preview", "{}").status, 422);
  const std::string schedules = "/workflows/" + monitor + "/schedules";
  const std::string one = schedules + "/" + org;
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + org + schedules, "{}").status, 422);
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + org + one + "/update", "{}").status, 422);
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + org + one + "/trigger", "{}").status, 422);
  ASSERT_EQ(tenant_api.asked.size(), 7U);
  EXPECT_EQ(tenant_api.asked[4].path, schedules);
  EXPECT_EQ(tenant_api.asked[5].path, one + "/update");
  EXPECT_EQ(tenant_api.asked[6].path, one + "/trigger");
  EXPECT_EQ(tenant_api.asked[3].path, "/schedules/preview");
  EXPECT_EQ(tenant_api.asked[0].path, "/monitors");
  EXPECT_EQ(tenant_api.asked[0].body, R"({"name":"n"})");
  EXPECT_EQ(tenant_api.asked[0].org_id.ToString(), org);
  EXPECT_EQ(tenant_api.asked[0].actor, "default");
  EXPECT_EQ(tenant_api.asked[0].remote_address, "203.0.113.7");
  EXPECT_EQ(tenant_api.asked[1].path, "/monitors/preview");
  EXPECT_EQ(tenant_api.asked[2].path, "/monitors/" + monitor + "/update");
}

TEST_F(AdminMonitors, ChannelsOfAnOrganisationAreThePublicApisToShowAndChange) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation() + "/channels";
  const std::string one = "/" + base::Uuid::V4().ToString();
  AskTenant(path + "?limit=1", "", "GET");
  AskTenant(path, R"({"name":"n"})");
  AskTenant(path + one, "", "GET");
  AskTenant(path + one + "/deliveries", "", "GET");
  AskTenant(path + one + "/update", R"({"is_active":false})");
  AskTenant(path + one + "/test", "{}");
  AskTenant(path + one, "", "DELETE");
  std::vector<std::string> asked;
  for (const auto& request : tenant_api.asked) {
    asked.push_back(request.method + " " + request.path + "?" + request.query);
    EXPECT_EQ(request.actor, "default");
  }
  EXPECT_EQ(asked, (std::vector<std::string>{
                       "GET /channels?limit=1", "POST /channels?", "GET /channels" + one + "?",
                       "GET /channels" + one + "/deliveries?", "POST /channels" + one + "/update?",
                       "POST /channels" + one + "/test?", "DELETE /channels" + one + "?"}));
}

TEST_F(AdminMonitors, NothingIsAskedForNobodyWithoutABodyOrWithoutAnApi) {
  const std::string org = NewOrganisation();
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/monitors", "{}").status,
            404);
  EXPECT_EQ(AskTenant("/admin/v1/orgs/" + org + "/monitors", "[").status, 400);
  EXPECT_TRUE(tenant_api.asked.empty());
  const Reply nowhere = Ask("POST", "/admin/v1/orgs/" + org + "/monitors", Json::object());
  EXPECT_EQ(nowhere.status, 409);
  EXPECT_EQ(nowhere.body["error"], "no_api_here");
}

// A monitor of a row for each address.
store::NewMonitor OrderOf(const std::string& org, const std::vector<std::string>& urls) {
  store::NewMonitor order;
  order.org_id = *base::Uuid::Parse(org);
  order.name = "pages";
  order.frequency_text = "1d";
  order.frequency = std::chrono::days(1);
  order.key_columns = {"url"};
  order.struct_json = R"({"title":"css:h1"})";
  for (const std::string& url : urls) {
    order.rows.push_back(
        domain::SplitRow(Json{{"url", url}}, domain::ColumnRoles{{"url"}, {"title"}}));
  }
  return order;
}

TEST_F(AdminMonitors, ThoseOfARunAreFoundInItsOrganisation) {
  const std::string org = NewOrganisation();
  store::NewMonitor order = OrderOf(org, {"https://a.example/"});
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  store::CreateMonitor(session, clock, order);
  order.run_id = "a run";
  const std::string made = store::CreateMonitor(session, clock, order).monitor_id.ToString();
  const std::string path = "/admin/v1/monitors?org_id=" + org;
  EXPECT_EQ(Ask("GET", path).body["items"].size(), 2U);
  const Reply found = Ask("GET", path + "&run_id=a%20run");
  ASSERT_EQ(found.body["items"].size(), 1U);
  EXPECT_EQ(found.body["items"][0]["id"], made);
  EXPECT_EQ(Ask("GET", path + "&run_id=").body["items"].size(), 2U);
  EXPECT_EQ(Ask("GET", path + "&run_id=another").body["items"].size(), 0U);
  // Without an organisation no index serves it, and a run has no text of a monitor.
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors?run_id=a%20run").status, 422);
  EXPECT_EQ(Ask("GET", path + "&run_id=a%20run&q=pages").status, 422);
}

TEST_F(AdminMonitors, AListOfRowsSaysWhyTheyFail) {
  const std::string org = NewOrganisation();
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const std::string id =
      store::CreateMonitor(session, clock,
                           OrderOf(org, {"https://a.example/", "https://b.example/"}))
          .monitor_id.ToString();
  Sql("update row_state set outcome = 3 where position = 0");
  Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
      "message) select gen_random_uuid(), org_id, monitor_id, id, 1795253400000000, "
      "gen_random_uuid(), 1, 'dns: no such name' from monitor_row where position = 0");
  const Json rows = Ask("GET", "/admin/v1/monitors/" + id + "/rows").body["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["is_failing"], true);
  EXPECT_EQ(rows[0]["failure"]["message"], "dns: no such name");
  EXPECT_EQ(rows[0]["failure"]["since"], "2026-11-21T09:30:00.000000Z");
  EXPECT_FALSE(rows[1].contains("failure"));
}

TEST_F(AdminMonitors, AMonitorIsShownWithItsChannels) {
  const std::string org = NewOrganisation();
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const std::string id = store::CreateMonitor(session, clock, OrderOf(org, {"https://a.example/"}))
                             .monitor_id.ToString();
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors/" + id).body["channel_ids"], Json::array());
  const std::string channel = base::Uuid::V4().ToString();
  Sql("insert into channel (id, org_id, name, kind, url, events) values ('" + channel + "', '" +
      org + "', 'n', 0, 'https://a.example', '{0}')");
  Sql("update monitor set channel_ids = array['" + channel + "'::uuid]");
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors/" + id).body["channel_ids"], Json::array({channel}));
}

class ApiForOperators : public ApiTest {
 public:
  ApiExchange::Answer AskFor(const std::string& org, const std::string& path, const Json& body,
                             std::optional<std::string> reason = {},
                             const std::string& method = "POST") {
    net::ServerRequest request;
    request.method = method;
    request.target = path;
    request.path = path;
    request.headers = {{"content-type", "application/json"}};
    request.body = base::DumpJson(body);
    auto exchange = std::make_shared<ApiExchange>(std::move(request));
    api.HandleFor(exchange, *base::Uuid::Parse(org), {"ann", std::move(reason)});
    return exchange->Wait();
  }
};

TEST_F(ApiForOperators, AMonitorIsMadeForTheOrganisationByTheSameRules) {
  const auto made = AskFor(acme.org_id, "/monitors", GoodBody());
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(Sql("select org_id from monitor"), acme.org_id);
  EXPECT_EQ(Sql("select actor from audit where action = 'monitor.create'"), "operator ann");
  EXPECT_EQ(AskFor(acme.org_id, "/monitors", Json::object()).status, 422);
  const std::string id = Sql("select id from monitor");
  EXPECT_EQ(AskFor(acme.org_id, "/monitors/" + id + "/update", {{"name", "new"}}, "asked").status,
            200);
  EXPECT_EQ(Sql("select reason from audit where action = 'monitor.update'"), "asked");
  EXPECT_EQ(Sql("select name from monitor"), "new");
}

TEST_F(ApiForOperators, TheTokenOfAFeedIsItsOrganisationsAloneToSee) {
  config.public_url = "https://api.example";
  const Json feed{{"name", "f"}, {"kind", "feed"}};
  const std::string id = Ask("POST", "/channels", feed).body["id"];
  const std::string made =
      base::ParseJsonOrThrow(AskFor(acme.org_id, "/channels", feed).body)["id"];
  const std::string bare = "https://api.example/channels/" + made + "/feed.atom";
  for (const auto& answer : {AskFor(acme.org_id, "/channels", {}, {}, "GET"),
                             AskFor(acme.org_id, "/channels/" + id, {}, {}, "GET"),
                             AskFor(acme.org_id, "/channels/" + id + "/update", {{"name", "g"}})}) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, testing::HasSubstr("/feed.atom\""));
    EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("token")));
  }
  EXPECT_EQ(Ask("GET", "/channels/" + made).body["target"]["url"].get<std::string>().find(bare),
            0U);
  EXPECT_THAT(Ask("GET", "/channels/" + id).raw.body, testing::HasSubstr("/feed.atom?token="));
}

TEST_F(ApiForOperators, G8AnotherOrganisationsMonitorIsNotFoundAndALockHolds) {
  const std::string id = NewMonitor();
  const Tenant other = NewTenant("other");
  EXPECT_EQ(AskFor(other.org_id, "/monitors/" + id + "/update", {{"name", "x"}}).status, 404);
  EXPECT_EQ(AskFor(base::Uuid::V4().ToString(), "/monitors", GoodBody()).status, 404);
  Sql("update organisation set locked = true where id = '" + acme.org_id + "'");
  EXPECT_EQ(AskFor(acme.org_id, "/monitors", GoodBody()).status, 403);
}

}  // namespace
}  // namespace vedette::test
