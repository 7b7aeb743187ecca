// G8: nobody sees or changes what is another organisation's or another team's, on any route there
// is.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "api/tenant/handlers.h"
#include "base/compression.h"
#include "base/crypto.h"
#include "config/auth_config.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiTenants : public ApiTest {
 public:
  // Bodies that would change something, so that a route that let a stranger in would be seen.
  static std::string EffectiveBody(const api::Route& route) {
    static const std::map<std::string_view, const char*> kBodies = {
        {"/monitors/{monitor_id}/update", R"({"name":"stolen","is_active":false})"},
        {"/monitors/{monitor_id}/rows", R"({"rows":[{"domain":"stolen.example"}]})"},
        {"/monitors/{monitor_id}/rows/{row_id}/update", R"({"is_active":false})"},
        {"/oauth/clients/{client_id}", R"({"name":"stolen","status":"disabled"})"},
    };
    if (route.body == rest::Body::kNone) return "";
    if (route.pattern == "/oauth/clients/{client_id}/keys") {
      return Json{{"public_key_pem", test::NewKey("Ed25519").PublicPem()}}.dump();
    }
    const auto it = kBodies.find(route.pattern);
    return it == kBodies.end() ? "{}" : it->second;
  }

  // Whether the path names a thing of somebody's.
  static bool NamesAThing(const api::Route& route) {
    return route.pattern.find("{monitor_id}") != std::string_view::npos ||
           route.pattern.find("{task_id}") != std::string_view::npos ||
           route.pattern.find("{snapshot_id}") != std::string_view::npos ||
           route.pattern.find("{investigation_id}") != std::string_view::npos ||
           route.pattern.find("{client_id}") != std::string_view::npos;
  }

  static std::string Path(const api::Route& route, const std::string& monitor,
                          const std::string& row, const std::string& task,
                          const std::string& client, const std::string& investigation) {
    std::string path(route.pattern);
    for (const auto& [name, id] : {std::pair<std::string, std::string>{"{monitor_id}", monitor},
                                   {"{row_id}", row},
                                   {"{snapshot_id}", row},  // see NewSnapshot
                                   {"{task_id}", task},
                                   {"{investigation_id}", investigation},
                                   {"{client_id}", client},
                                   {"{kid}", "k1"}}) {
      if (const auto at = path.find(name); at != std::string::npos) {
        path.replace(at, name.size(), id);
      }
    }
    return path;
  }

  // Everything in the database but the count of requests.
  std::string Everything() {
    return Sql(
        "select string_agg(c.relname || query_to_xml("
        "'select md5(string_agg(t::text, chr(10) order by t::text)) from ' || "
        "quote_ident(c.relname) || ' t', true, false, '')::text, ',' order by c.relname) from "
        "pg_class c "
        "where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') "
        "and c.relname <> 'rate_window'");
  }

  // An OAuth client with the key k1.
  std::string NewClient() {
    const std::string id = Ask("POST", "/oauth/clients", Json{{"name", "c"}}).body["id"];
    const Json key{{"public_key_pem", test::NewKey("P-256").PublicPem()}, {"kid", "k1"}};
    Ask("POST", "/oauth/clients/" + id + "/keys", key);
    return id;
  }

  // What the page of the row was like, under the row's own id.
  void NewSnapshot(const std::string& monitor, const std::string& row) {
    const std::string text = base::HexEncode(base::Compressed("a"));
    Sql("insert into snapshot_content (org_id, hash, body) values ('" + acme.org_id +
        "', '\\x01', '\\x" + text + "'), ('" + acme.org_id + "', '\\x02', 'a')");
    Sql("insert into snapshot (id, org_id, monitor_id, row_id, tick_id, url, is_rendered, "
        "text_hash, "
        "text_bytes, picture_hash) values ('" +
        row + "', '" + acme.org_id + "', '" + monitor + "', '" + row +
        "', 1, 'https://a.example/', true, '\\x01', 1, '\\x02')");
  }

  // A job of the key's team that costs nothing.
  std::string NewJob(const std::string& key) {
    const Json body{{"lead", {{"personal_email", "ada@home.example"}}}, {"mode", "PERSONAL"}};
    return Ask("POST", "/find-email-async", body, Headers{{"x-api-key", key}}).body["task_id"];
  }

  std::string NewInvestigation(const std::string& key) {
    Sql("update account set balance_mc = 1000000");
    const Json seed{{"type", "domain"}, {"value", "a.example"}};
    const Json body{{"seeds", Json::array({seed})}};
    return Ask("POST", "/v1/atlas/investigations", body, Headers{{"x-api-key", key}})
        .body["investigation_id"];
  }

  // A document of the organisation is its own, and not one of its teams'.
  void CountDocuments(const Headers& key, bool same_organisation) {
    Sql("insert into search_import (id, mode, org_id, state) select gen_random_uuid(), 1, '" +
        acme.org_id + "', 2 where not exists (select from search_import)");
    Sql("insert into search_entity select id, '1', '{}' from search_import on conflict do nothing");
    const Json body{{"field", "name"}};
    const Json seen = Ask("POST", "/search/filter-field-values", body, key).body;
    EXPECT_EQ(seen["total_scoped_documents"], same_organisation ? 1 : 0);
  }

  // A workflow that hands its records on.
  std::string NewWorkflow() {
    const Json source{
        {"sequence_number", 1}, {"block_name", "webhook"}, {"specs", {{"dataframe_type", "LEAD"}}}};
    const Json body{
        {"workflow_name", "w"},
        {"workflow_definition", {{"blocks", Json::array({source})}, {"edges", Json::array()}}}};
    return Ask("POST", "/workflows/create_workflow", body).body["id"];
  }

  // A template of workflows that is the organisation's own.
  std::string NewTemplate() {
    std::string id = base::Uuid::V4().ToString();
    Sql("insert into workflow_template (id, org_id, slug, document) values ('" + id + "', '" +
        acme.org_id +
        "', 'own', '{\"slug\":\"own\",\"name\":\"n\",\"description\":\"d\",\"category\":\"own\","
        "\"difficulty\":\"d\",\"estimated_time\":\"t\",\"use_case\":\"u\",\"author_name\":\"a\","
        "\"tags\":[],\"featured\":false,\"internal\":false,\"blocks\":[],\"edges\":[]}')");
    return id;
  }

  using Tries = std::map<std::string, std::function<void(const Headers&, bool)>>;

  // How a stranger would use the routes of accounts and of search.
  Tries TriesOfCredits(const std::string& team) {
    return {
        {"POST /search/filter-field-values", std::bind_front(&ApiTenants::CountDocuments, this)},
        {"POST /schedules/preview",
         [this](const Headers& key, bool) {
           const Json body{{"cron", "0 9 * * *"}};
           EXPECT_EQ(Ask("POST", "/schedules/preview", body, key).body.size(), 2U);
         }},
        {"POST /monitors/preview",
         [this](const Headers& key, bool) {
           Json body = GoodBody();
           body.erase("rows");
           body["resource_handle_id"] = base::Uuid::V4().ToString();
           EXPECT_EQ(Ask("POST", "/monitors/preview", body, key).status, 422);
         }},
        {"GET /credits",
         [this, team](const Headers& key, bool same_organisation) {
           const Json seen = Ask("GET", "/credits", key).body["team"];
           EXPECT_EQ(seen.is_null(), !same_organisation);
           if (seen.is_object()) {
             EXPECT_NE(seen["id"], team);
           }
         }},
        {"GET /credits/reservations",
         [this](const Headers& key, bool) {
           EXPECT_EQ(Ask("GET", "/credits/reservations", key).body["reserved"], 0);
         }},
        {"GET /credits/ledger",
         [this](const Headers& key, bool) {
           EXPECT_EQ(Ask("GET", "/credits/ledger", key).body["lines"], Json::array());
           EXPECT_EQ(Ask("GET", "/credits/ledger", key).body["closing"], 0);
         }},
    };
  }

  // How a stranger would use saved exclusions. They are the organisation's, whatever the team.
  Tries TriesOfExclusions() {
    const std::string lists = "/search/exclusion-lists";
    const Json made{{"name", "won"}, {"entity_type", "company"}};
    const std::string list = lists + "/" + Ask("POST", lists, made).body["id"].get<std::string>();
    const auto foreign = [this](const std::string& method, const std::string& target,
                                const Json& body) {
      return [this, method, target, body](const Headers& key, bool same_organisation) {
        if (same_organisation) return;
        net::ServerRequest request = Request(method, target, key);
        if (!body.is_null()) request.body = body.dump();
        EXPECT_EQ(AskRaw(std::move(request)).status, 404) << method << " " << target;
      };
    };
    const std::string pattern = lists + "/{list_id}";
    return {
        {"GET " + lists,
         [this, lists](const Headers& key, bool same_organisation) {
           const Json seen = Ask("GET", lists, key).body["exclusion_lists"];
           EXPECT_EQ(seen.empty(), !same_organisation);
         }},
        {"GET " + pattern, foreign("GET", list, nullptr)},
        {"DELETE " + pattern, foreign("DELETE", list, nullptr)},
        {"POST " + pattern + "/entities",
         foreign("POST", list + "/entities", {{"entity_ids", {"stolen"}}})},
        {"POST " + pattern + "/ready", foreign("POST", list + "/ready", Json::object())},
    };
  }

  // How a stranger would use what an owner manages; a key of a team manages nothing.
  Tries TriesOfAccounts() {
    const std::string key = Ask("POST", "/account/api-keys", Json{{"name", "k"}}).body["id"];
    const auto expect = [this](const std::string& method, const std::string& target, int status) {
      return [this, method, target, status](const Headers& caller, bool same_organisation) {
        const Reply reply = method == "GET" ? Ask(method, target, caller)
                                            : Ask(method, target, Json::object(), caller);
        EXPECT_EQ(reply.status, same_organisation ? 403 : status) << target;
      };
    };
    const std::string none = base::Uuid::V4().ToString();
    Tries tries = {
        {"GET /account/api-keys",
         [this, key](const Headers& caller, bool same_organisation) {
           const Reply reply = Ask("GET", "/account/api-keys", caller);
           EXPECT_EQ(reply.status, same_organisation ? 403 : 200);
           EXPECT_EQ(reply.raw.body.find(key), std::string::npos);
         }},
        {"POST /account/api-keys/{key_id}/revoke",
         expect("POST", "/account/api-keys/" + key + "/revoke", 404)},
        {"GET /account/signing-secrets", expect("GET", "/account/signing-secrets", 200)},
        {"POST /account/signing-secrets", expect("POST", "/account/signing-secrets", 409)},
        {"POST /account/signing-secrets/roll",
         expect("POST", "/account/signing-secrets/roll", 409)},
        {"POST /account/signing-secrets/{secret_id}/revoke",
         expect("POST", "/account/signing-secrets/" + none + "/revoke", 404)},
        {"GET /account/deliveries", expect("GET", "/account/deliveries", 200)},
        {"GET /account/deliveries/{delivery_id}/attempts",
         expect("GET", "/account/deliveries/" + none + "/attempts", 404)},
        {"POST /account/deliveries/replay", expect("POST", "/account/deliveries/replay", 200)},
        {"POST /account/deliveries/{delivery_id}/resend",
         expect("POST", "/account/deliveries/" + none + "/resend", 404)},
        {"GET /account/audit",
         [this, key](const Headers& caller, bool same_organisation) {
           const Reply reply = Ask("GET", "/account/audit", caller);
           EXPECT_EQ(reply.status, same_organisation ? 403 : 200);
           EXPECT_EQ(reply.raw.body.find(key), std::string::npos);
         }},
        {"GET /account/channels",
         [this](const Headers& caller, bool same_organisation) {
           const Reply reply = Ask("GET", "/account/channels", caller);
           EXPECT_EQ(reply.status, same_organisation ? 403 : 200);
           if (same_organisation) return;
           EXPECT_EQ(reply.body["channel_ids"], Json::array());
         }},
        {"POST /account/channels",
         [this](const Headers& caller, bool same_organisation) {
           const std::string id = Ask("POST", "/channels",
                                      Json{{"name", "n"},
                                           {"kind", "webhook"},
                                           {"target", {{"url", "https://hooks.example.com/"}}}})
                                      .body["id"];
           net::ServerRequest request = Request("POST", "/account/channels", caller);
           request.body = R"({"channel_ids":[")" + id + "\"]}";
           EXPECT_EQ(AskRaw(std::move(request)).status, same_organisation ? 403 : 404);
         }},
        {"GET /account/usage",
         [this](const Headers& caller, bool same_organisation) {
           const Reply reply = Ask("GET", "/account/usage?group_by=day,kind,monitor,key", caller);
           EXPECT_EQ(reply.status, same_organisation ? 403 : 200);
           if (same_organisation) return;
           EXPECT_EQ(reply.body["rows"], Json::array());
         }},
    };
    tries.merge(TriesOfMembers());
    return tries;
  }

  // How a stranger would use members, invitations and sessions: those of another organisation are
  // no sessions and no members of its own, and a key is no session at all.
  Tries TriesOfMembers() {
    config.dashboard.enabled = true;
    const Json order{{"email", "ada@example.com"}, {"role", "owner"}};
    const std::string id = Ask("POST", "/account/invitations", order).body["id"];
    Sql("insert into org_user (org_id, user_id, role) values ('" + acme.org_id +
        "', 'ada@example.com', 2), ('" + acme.org_id + "', 'bob@example.com', 2)");
    const std::string passkey = base::Uuid::V4().ToString();
    Sql("insert into passkey (id, email, credential_id, public_key, algorithm, sign_count, name) "
        "values ('" +
        passkey + "', 'ada@example.com', 'c', 'k', 2, 0, 'n') returning 1");
    const auto managed = [this](const std::string& method, const std::string& target,
                                const std::string& body) {
      return [this, method, target, body](const Headers& key, bool same_organisation) {
        net::ServerRequest request = Request(method, target, key);
        request.body = body;
        const Reply reply = AskRaw(std::move(request));
        const bool lists = method == "GET";
        EXPECT_EQ(reply.status, same_organisation ? 403 : lists ? 200 : 404) << method << target;
        EXPECT_EQ(reply.raw.body.find("ada@"), std::string::npos) << target;
      };
    };
    const auto no_session = [this](const std::string& method, const std::string& target) {
      return [this, method, target](const Headers& key, bool) {
        EXPECT_EQ(Ask(method, target, key).status, 404) << target;
      };
    };
    const std::string ada = "/account/members/ada%40example.com";
    return {
        {"GET /account/members", managed("GET", "/account/members", "")},
        {"POST /account/members/{email}/update",
         managed("POST", ada + "/update", R"({"role":"viewer"})")},
        {"POST /account/members/{email}/reset", managed("POST", ada + "/reset", "")},
        {"GET /dashboard/passkeys", no_session("GET", "/dashboard/passkeys")},
        {"POST /dashboard/passkeys", no_session("POST", "/dashboard/passkeys")},
        {"POST /dashboard/passkeys/options", no_session("POST", "/dashboard/passkeys/options")},
        {"DELETE /dashboard/passkeys/{passkey_id}",
         no_session("DELETE", "/dashboard/passkeys/" + passkey)},
        {"POST /dashboard/password", no_session("POST", "/dashboard/password")},
        {"DELETE /account/members/{email}", managed("DELETE", ada, "")},
        {"GET /account/invitations", managed("GET", "/account/invitations", "")},
        {"DELETE /account/invitations/{invitation_id}",
         managed("DELETE", "/account/invitations/" + id, "")},
        {"GET /dashboard/session", no_session("GET", "/dashboard/session")},
        {"DELETE /dashboard/session", no_session("DELETE", "/dashboard/session")},
        {"GET /dashboard/sessions", no_session("GET", "/dashboard/sessions")},
        {"DELETE /dashboard/sessions", no_session("DELETE", "/dashboard/sessions")},
    };
  }

  // How a stranger would use channels. One of the whole organisation is no team's to see.
  Tries TriesOfChannels() {
    const Json made{
        {"name", "n"}, {"kind", "webhook"}, {"target", {{"url", "https://hooks.example.com/"}}}};
    const std::string id = Ask("POST", "/channels", made).body["id"];
    const auto foreign = [this, id](const std::string& method, const std::string& behind) {
      return [this, id, method, behind](const Headers& key, bool) {
        net::ServerRequest request = Request(method, "/channels/" + id + behind, key);
        if (method == "POST") request.body = behind == "/test" ? "{}" : R"({"name":"stolen"})";
        EXPECT_EQ(AskRaw(std::move(request)).status, 404) << method << behind;
      };
    };
    const std::string pattern = "/channels/{channel_id}";
    return {
        {"GET /channels",
         [this](const Headers& key, bool) {
           EXPECT_TRUE(Ask("GET", "/channels", key).body["channels"].empty());
         }},
        {"GET " + pattern, foreign("GET", "")},
        {"DELETE " + pattern, foreign("DELETE", "")},
        {"GET " + pattern + "/deliveries", foreign("GET", "/deliveries")},
        {"POST " + pattern + "/update", foreign("POST", "/update")},
        {"POST " + pattern + "/test", foreign("POST", "/test")},
    };
  }

  // How a stranger would use the routes of workflows. They are the organisation's, whatever the
  // team.
  Tries TriesOfWorkflows() {
    const std::string flow = NewWorkflow();
    const std::string run =
        Ask("POST", "/workflows/run?workflow_id=" + flow, Json{{"webhook_payload", {{"a", 1}}}})
            .body["job_id"];
    const auto with_id = [&](const std::string& method, const std::string& target) {
      return [this, method, target](const Headers& key, bool same_organisation) {
        if (same_organisation) return;
        const Reply reply =
            method == "GET" ? Ask(method, target, key) : Ask(method, target, Json::object(), key);
        EXPECT_EQ(reply.status, 404) << method << " " << target;
      };
    };
    const auto listed = [&](const std::string& target) {
      return [this, target](const Headers& key, bool same_organisation) {
        EXPECT_EQ(Ask("GET", target, key).body.empty(), !same_organisation) << target;
      };
    };
    return {
        {"GET /templates",
         [this](const Headers& key, bool same_organisation) {
           EXPECT_EQ(Ask("GET", "/templates?category=own", key).body["templates"].size(),
                     same_organisation ? 1U : 0U);
         }},
        {"GET /templates/{template_key}", with_id("GET", "/templates/" + NewTemplate())},
        {"GET /workflows", listed("/workflows")},
        {"GET /workflows/runs", listed("/workflows/runs")},
        {"GET /workflows/{workflow_id}", with_id("GET", "/workflows/" + flow)},
        {"POST /workflows/run", with_id("POST", "/workflows/run?workflow_id=" + flow)},
        {"POST /workflows/update_workflow",
         with_id("POST", "/workflows/update_workflow?workflow_id=" + flow)},
        {"POST /workflows/delete_workflow",
         with_id("POST", "/workflows/delete_workflow?workflow_id=" + flow)},
        {"POST /workflows/cancel", with_id("POST", "/workflows/cancel?job_id=" + run)},
        {"GET /workflows/runs/{run_id}/live_status",
         with_id("GET", "/workflows/runs/" + run + "/live_status")},
        {"GET /workflows/runs/{run_id}/results/download-links",
         with_id("GET", "/workflows/runs/" + run + "/results/download-links")},
    };
  }

  // How a stranger would use schedules of workflows. They are the organisation's, whatever the
  // team.
  Tries TriesOfSchedules() {
    const std::string path = "/workflows/" + NewWorkflow() + "/schedules";
    const Json made{{"name", "n"}, {"frequency", "1d"}, {"webhook_payload", {{"a", 1}}}};
    const std::string id = Ask("POST", path, made).body["id"];
    const auto foreign = [this](const std::string& method, const std::string& target,
                                const Json& body) {
      return [this, method, target, body](const Headers& key, bool same_organisation) {
        if (same_organisation) return;
        net::ServerRequest request = Request(method, target, key);
        if (!body.is_null()) request.body = body.dump();
        EXPECT_EQ(AskRaw(std::move(request)).status, 404) << method << " " << target;
      };
    };
    const std::string all = "/workflows/{workflow_id}/schedules";
    const std::string one = all + "/{schedule_id}";
    const std::string of_one = path + "/" + id;
    return {
        {"POST " + all, foreign("POST", path, made)},
        {"GET " + all, foreign("GET", path, nullptr)},
        {"GET " + one, foreign("GET", of_one, nullptr)},
        {"DELETE " + one, foreign("DELETE", of_one, nullptr)},
        {"POST " + one + "/update", foreign("POST", of_one + "/update", {{"name", "stolen"}})},
        {"POST " + one + "/trigger", foreign("POST", of_one + "/trigger", Json::object())},
    };
  }

  std::string FirstRow(const std::string& monitor) {
    return Ask("GET", "/monitors/" + monitor + "/rows").body["rows"][0]["id"];
  }
};

TEST_F(ApiTenants, ForeignIdsAre404OnEveryRouteOfTheTableAndNothingChanges) {
  const std::string team = NewTeam(acme.org_id);
  const std::string theirs = NewMonitor(
      {{"team_id", team}, {"run_id", "r"}, {"webhook_url", "https://hooks.example.com/"}});
  const std::string their_row = FirstRow(theirs);
  NewSnapshot(theirs, their_row);
  const std::string their_job = NewJob(NewKey(acme.org_id, team));
  const std::string their_inquiry = NewInvestigation(NewKey(acme.org_id, team));
  const std::string their_client = NewClient();
  const Tenant other = NewTenant("other");
  const std::string before = Everything();
  int tried = 0;
  for (const std::string& key : {other.key, NewKey(acme.org_id, NewTeam(acme.org_id))}) {
    // That the key is used is noted with its first request of an hour.
    ASSERT_EQ(AskRaw(Request("GET", "/monitors", {{"x-api-key", key}})).status, 200);
    const std::string at_first = Everything();
    for (const api::Route& route : api::Routes()) {
      if (!NamesAThing(route)) continue;
      ++tried;
      // A team's key may not manage clients at all.
      const bool managed = route.access == rest::Access::kManagement;
      const bool refused = managed && key != other.key;
      const std::string path =
          Path(route, theirs, their_row, their_job, their_client, their_inquiry);
      // An invalid body too: the id is checked first.
      for (const std::string& body : {EffectiveBody(route), std::string("{")}) {
        net::ServerRequest request = Request(std::string(route.method), path, {{"x-api-key", key}});
        request.body = body;
        const Reply reply = AskRaw(std::move(request));
        EXPECT_EQ(reply.status, refused ? 403 : 404) << route.method << " " << path << " " << body;
        EXPECT_EQ(reply.error(), refused ? "credential_not_allowed" : "not_found");
      }
    }
    EXPECT_EQ(Everything(), at_first);
  }
  EXPECT_GE(tried, 2 * 12);
  EXPECT_NE(Everything(), before);  // the second key and its team: a change would be seen
  EXPECT_FALSE(tester.tested);
  // The same requests have an effect with a key that may make them.
  for (const api::Route& route : api::Routes()) {
    // Their job is a find-email; this route knows jobs of its own kind alone.
    if (!NamesAThing(route) || route.pattern == "/verify-age/{task_id}") continue;
    net::ServerRequest request =
        Request(std::string(route.method),
                Path(route, theirs, their_row, their_job, NewClient(), their_inquiry), {});
    request.body = EffectiveBody(route);
    const int status = AskRaw(std::move(request)).status;
    EXPECT_TRUE(status / 100 == 2 || status == 409) << route.method << " " << route.pattern;
  }
}

// Routes that take no id at all.
const std::set<std::string> kWithoutIds = {"POST /storage/csv/upload",
                                           "POST /find-email",
                                           "POST /find-email-async",
                                           "POST /find-email-bulk",
                                           "POST /find-email-bulk-async",
                                           "POST /reverse-email",
                                           "POST /reverse-email-async",
                                           "POST /reverse-email-bulk",
                                           "POST /reverse-email-bulk-async",
                                           "POST /verify-age",
                                           "GET /search/filter-capabilities",
                                           "POST /v1/atlas/investigations",
                                           "GET /workflows/blocks",
                                           "POST /workflows/create_workflow",
                                           "POST /account/api-keys",
                                           "POST /account/invitations",
                                           "POST /channels",
                                           "POST /search/exclusion-lists"};

// Every route that takes ids elsewhere than in the path's {monitor_id}, with foreign ones.
TEST_F(ApiTenants, RoutesWithoutAMonitorIdShowAndTakeNothingForeign) {
  const std::string team = NewTeam(acme.org_id);
  NewMonitor({{"team_id", team}, {"run_id", "r"}});
  net::ServerRequest upload =
      Request("POST", "/storage/csv/upload", {{"content-type", "text/csv"}});
  upload.body = "domain\na.example\n";
  const std::string handle = AskRaw(std::move(upload)).body["handle_id"];
  Tries tries = {
      {"GET /monitors",
       [&](const Headers& key, bool) {
         EXPECT_EQ(Ask("GET", "/monitors", key).raw.body, R"({"monitors":[]})");
       }},
      {"GET /events",
       [&](const Headers& key, bool) {
         EXPECT_EQ(Ask("GET", "/events", key).raw.body, R"({"events":[]})");
       }},
      {"GET /monitors/for-run/{run_id}",
       [&](const Headers& key, bool) {
         EXPECT_EQ(Ask("GET", "/monitors/for-run/r", key).raw.body, "[]");
       }},
      {"POST /monitors",
       [&](const Headers& key, bool same_organisation) {
         Json body = GoodBody();
         body["team_id"] = team;
         EXPECT_EQ(Ask("POST", "/monitors", body, key).status, 404);
         body.erase("team_id");
         body.erase("rows");
         body["resource_handle_id"] = handle;  // the organisation's, whatever the team
         if (!same_organisation) {
           EXPECT_EQ(Ask("POST", "/monitors", body, key).error(), "invalid_resource_handle");
         }
       }},
      {"GET /oauth/clients",
       [&](const Headers& key, bool same_organisation) {
         const Reply reply = Ask("GET", "/oauth/clients", key);
         EXPECT_EQ(reply.status, same_organisation ? 403 : 200);
         if (!same_organisation) {
           EXPECT_EQ(reply.raw.body, "[]");
         }
       }},
      {"POST /oauth/clients",
       [&](const Headers& key, bool same_organisation) {
         const Json body{{"name", "c"}, {"team_id", team}};
         EXPECT_EQ(Ask("POST", "/oauth/clients", body, key).status, same_organisation ? 403 : 404);
       }},
  };
  tries.merge(TriesOfWorkflows());
  tries.merge(TriesOfCredits(team));
  tries.merge(TriesOfExclusions());
  tries.merge(TriesOfAccounts());
  tries.merge(TriesOfChannels());
  tries.merge(TriesOfSchedules());
  NewClient();
  const Tenant other = NewTenant("other");
  const std::string rival = NewKey(acme.org_id, NewTeam(acme.org_id));
  for (const api::Route& route : api::Routes()) {
    // An assertion is validated by its client's keys alone (credentials_on_every_route_test.cc), a
    // signed link by its signature (runs_test.cc).
    const bool by_itself =
        route.access == rest::Access::kAssertion || route.access == rest::Access::kSignedLink;
    if (route.access == rest::Access::kOpen || by_itself || NamesAThing(route)) continue;
    const std::string name = std::string(route.method) + " " + std::string(route.pattern);
    if (kWithoutIds.contains(name)) continue;
    const auto it = tries.find(name);
    ASSERT_NE(it, tries.end()) << "say here how a stranger would use " << route.pattern;
    it->second({{"x-api-key", other.key}}, false);
    it->second({{"x-api-key", rival}}, true);
  }
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
}

TEST_F(ApiTenants, RowsCursorsAndChecksOfAnotherMonitorAreNotTaken) {
  const std::string first = NewMonitor();
  const std::string second = NewMonitor();
  const std::string row = FirstRow(first);
  const std::string before = Everything();
  EXPECT_EQ(Ask("GET", "/monitors/" + second + "/rows/" + row + "/events").status, 404);
  EXPECT_EQ(
      Ask("POST", "/monitors/" + second + "/rows/" + row + "/update", Json{{"is_active", false}})
          .status,
      404);
  const std::string cursor = Ask("GET", "/monitors/" + first + "/rows?limit=1").body["next_cursor"];
  EXPECT_EQ(Ask("GET", "/monitors/" + second + "/rows?cursor=" + cursor).error(), "invalid_cursor");
  const Tenant other = NewTenant("other");
  const std::string list_cursor = Ask("GET", "/monitors?limit=1").body["next_cursor"];
  EXPECT_EQ(
      Ask("GET", "/monitors?cursor=" + list_cursor, Headers{{"x-api-key", other.key}}).error(),
      "invalid_cursor");
  Sql("delete from api_key where org_id = '" + other.org_id + "'");
  Sql("delete from moved_key where org_id = '" + other.org_id + "'");
  Sql("delete from account where org_id = '" + other.org_id + "'");
  Sql("delete from organisation where id = '" + other.org_id + "'");
  EXPECT_EQ(Everything(), before);
}

TEST_F(ApiTenants, IdempotencyKeyOfAnotherTeamShowsNothingOfItsMonitor) {
  const auto create = [this](const std::string& key) {
    return Ask("POST", "/monitors", GoodBody(), {{"x-api-key", key}, {"idempotency-key", "k"}});
  };
  const std::string mine = NewKey(acme.org_id, NewTeam(acme.org_id));
  EXPECT_EQ(create(mine).status, 200);
  EXPECT_EQ(create(NewKey(acme.org_id, NewTeam(acme.org_id))).status, 422);
  EXPECT_EQ(create(NewTenant("other").key).status, 200);
  EXPECT_EQ(create(mine).status, 200);
  EXPECT_EQ(Sql("select count(*) from monitor"), "2");
}

TEST_F(ApiTenants, IdsThatAreNoneAre404OnEveryRoute) {
  const std::string monitor = NewMonitor();
  for (const api::Route& route : api::Routes()) {
    if (!NamesAThing(route)) continue;
    const std::string unknown = base::Uuid::V4().ToString();
    std::vector<std::pair<std::string, std::string>> ids = {{"none", unknown}, {unknown, unknown}};
    if (route.pattern.find("{row_id}") != std::string_view::npos) {
      ids.insert(ids.end(), {{monitor, "none"}, {monitor, unknown}});
    }
    for (const auto& [m, r] : ids) {
      net::ServerRequest request =
          Request(std::string(route.method), Path(route, m, r, m, m, m), {});
      request.body = EffectiveBody(route);
      EXPECT_EQ(AskRaw(std::move(request)).status, 404) << route.pattern << " " << m << " " << r;
    }
  }
}

TEST_F(ApiTenants, ATeamsKeyAndOneWithoutATeamSeeTheTeamsMonitor) {
  const std::string team = NewTeam(acme.org_id);
  const std::string id = NewMonitor({{"team_id", team}});
  for (const std::string& key : {acme.key, NewKey(acme.org_id, team)}) {
    EXPECT_EQ(Ask("GET", "/monitors/" + id, Headers{{"x-api-key", key}}).status, 200);
    EXPECT_EQ(Ask("GET", "/monitors", Headers{{"x-api-key", key}}).body["monitors"].size(), 1U);
  }
}

TEST_F(ApiTenants, TeamOfABodyMustExistAndBeTheKeys) {
  const std::string team = NewTeam(acme.org_id);
  const std::string key = NewKey(acme.org_id, team);
  const Tenant other = NewTenant("other");
  Json body = GoodBody();
  for (const std::string& bad :
       {NewTeam(other.org_id), base::Uuid::V4().ToString(), std::string("none")}) {
    body["team_id"] = bad;
    EXPECT_EQ(Ask("POST", "/monitors", body).status, 404);
    EXPECT_EQ(Ask("POST", "/monitors", body, {{"x-api-key", key}}).status, 404);
  }
  body["team_id"] = NewTeam(acme.org_id);
  EXPECT_EQ(Ask("POST", "/monitors", body).status, 200);
  EXPECT_EQ(Ask("POST", "/monitors", body, {{"x-api-key", key}}).status, 404);
  body.erase("team_id");
  const Reply mine = Ask("POST", "/monitors", body, {{"x-api-key", key}});
  EXPECT_EQ(Ask("GET", "/monitors/" + mine.body["id"].get<std::string>()).body["team_id"], team);
}

}  // namespace
}  // namespace vedette::test
