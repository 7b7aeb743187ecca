// G8: every route of the table is tried with another organisation's ids, in its path, its query and
// its body, by each kind of credential that an organisation has, and the attempts are counted.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/compression.h"
#include "base/crypto.h"
#include "tests/store/support/member_routes.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kMark = "acmes-own";  // stands in the name of whatever acme has
constexpr int kAttemptsMin = 200;

class ApiAttempts : public ApiMembers {
 public:
  ApiAttempts() : ApiMembers({{"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "100000"}}) {}

  // One request that names something of acme's, or could show it.
  struct Attempt {
    std::string target;
    std::string body;
    enum class Names { kNothing, kInTarget, kInBody } names = Names::kNothing;
  };
  using Names = Attempt::Names;

  std::string Made(const std::string& path, const Json& body, const char* id = "id",
                   const Headers& headers = {}) {
    const Reply reply = Ask("POST", path, body, headers);
    EXPECT_EQ(reply.status / 100, 2) << path << reply.raw.body;
    return reply.body[id].is_string() ? reply.body[id].get<std::string>() : "";
  }

  // Inserts one row; `values` are SQL.
  void Insert(const std::string& table, const std::string& columns, const std::string& values) {
    ASSERT_EQ(
        Sql("insert into " + table + " (" + columns + ") values (" + values + ") returning 1"),
        "1");
  }
  static std::string Quoted(const std::string& text) { return "'" + text + "'"; }

  // A monitor with a snapshot of its row under the row's own id, and a dead delivery.
  void MakeAMonitor() {
    const std::string monitor =
        NewMonitor({{"name", kMark}, {"webhook_url", "https://hooks.example.com/"}});
    const std::string row = Ask("GET", "/monitors/" + monitor + "/rows").body["rows"][0]["id"];
    const std::string org = Quoted(acme.org_id);
    Insert("snapshot_content", "org_id, hash, body",
           org + ", '\\x01', '\\x" + base::HexEncode(base::Compressed(kMark)) + "'");
    Insert("snapshot_content", "org_id, hash, body", org + ", '\\x02', 'acmes-own'");
    Insert("snapshot",
           "id, org_id, monitor_id, row_id, tick_id, url, is_rendered, text_hash, text_bytes, "
           "picture_hash",
           Quoted(row) + ", " + org + ", " + Quoted(monitor) + ", " + Quoted(row) +
               ", 1, 'https://a.example/', true, '\\x01', 1, '\\x02'");
    Insert("delivery",
           "id, org_id, monitor_id, row_id, event_group_id, type, state, available_at, attempts, "
           "endpoint_id",
           Quoted(ids["delivery_id"]) + ", " + org + ", " + Quoted(monitor) + ", " + Quoted(row) +
               ", gen_random_uuid(), 0, 1, now(), 12, (select id from endpoint limit 1)");
    ids.insert({{"monitor_id", monitor}, {"row_id", row}, {"snapshot_id", row}});
  }

  void MakeAWorkflow() {
    const Json source{
        {"sequence_number", 1}, {"block_name", "webhook"}, {"specs", {{"dataframe_type", "LEAD"}}}};
    const Json definition{{"blocks", Json::array({source})}, {"edges", Json::array()}};
    const Json payload{{"a", 1}};
    ids["workflow_id"] = Made("/workflows/create_workflow",
                              {{"workflow_name", kMark}, {"workflow_definition", definition}});
    ids["schedule_id"] = Made("/workflows/" + ids["workflow_id"] + "/schedules",
                              {{"name", kMark}, {"frequency", "1d"}, {"webhook_payload", payload}});
    ids["run_id"] = Made("/workflows/run?workflow_id=" + ids["workflow_id"],
                         {{"webhook_payload", payload}}, "job_id");
    Insert("workflow_template", "id, org_id, slug, document",
           Quoted(ids["template_key"]) + ", " + Quoted(acme.org_id) +
               ", 'own', '{\"slug\":\"own\",\"name\":\"acmes-own\",\"description\":\"d\","
               "\"category\":\"own\",\"difficulty\":\"d\",\"estimated_time\":\"t\",\"use_case\":"
               "\"u\",\"author_name\":\"a\",\"tags\":[],\"featured\":false,\"internal\":false,"
               "\"blocks\":[],\"edges\":[]}'");
  }

  void MakeLookups() {
    Sql("update account set balance_mc = 1000000 returning 1");
    const Json seed{{"type", "domain"}, {"value", "acmes-own.example"}};
    const Json lead{{"personal_email", "acmes-own@home.example"}};
    ids["investigation_id"] =
        Made("/v1/atlas/investigations", {{"seeds", Json::array({seed})}}, "investigation_id");
    ids["task_id"] = Made("/find-email-async", {{"lead", lead}, {"mode", "PERSONAL"}}, "task_id");
    ids["list_id"] = Made("/search/exclusion-lists", {{"name", kMark}, {"entity_type", "company"}});
    net::ServerRequest upload =
        Request("POST", "/storage/csv/upload", {{"content-type", "text/csv"}});
    upload.body = "domain\nacmes-own.example\n";
    ids["handle_id"] = AskRaw(std::move(upload)).body["handle_id"];
  }

  void MakeAnAccount() {
    Take(Invite("acmes-own@example.com", "owner"));
    Invite("acmes-own-guest@example.com", "viewer");
    ids["email"] = "acmes-own%40example.com";
    ids["invitation_id"] = Ask("GET", "/account/invitations").body["invitations"][0]["id"];
    ids["key_id"] = Made("/account/api-keys", {{"name", kMark}});
    ids["client_id"] = Made("/oauth/clients", {{"name", kMark}});
    ids["kid"] = "k1";
    Made("/oauth/clients/" + ids["client_id"] + "/keys",
         {{"public_key_pem", test::NewKey("P-256").PublicPem()}, {"kid", "k1"}});
    ids["channel_id"] = Made("/channels", {{"name", kMark},
                                           {"kind", "webhook"},
                                           {"target", {{"url", "https://hooks.example.com/"}}}});
    Insert("signing_secret", "id, org_id, sealed, encryption_key_id, retires_at",
           Quoted(ids["secret_id"]) + ", " + Quoted(acme.org_id) +
               ", 'acmes-own', 'k', now() + interval '1 day'");
    Insert("passkey", "id, email, credential_id, public_key, algorithm, sign_count, name",
           Quoted(ids["passkey_id"]) + ", 'acmes-own@example.com', 'c', 'k', 2, 0, 'acmes-own'");
    ids["team_id"] = NewTeam(acme.org_id);
    ids["file"] = "acmes-own.csv";
  }

  // One of everything that a path, a query or a body can name.
  void MakeEverything() {
    for (const char* name :
         {"delivery_id", "template_key", "secret_id", "passkey_id", "address_id"}) {
      ids[name] = base::Uuid::V4().ToString();
    }
    MakeAMonitor();
    MakeAWorkflow();
    MakeLookups();
    MakeAnAccount();
  }

  // What another organisation has to ask with.
  std::vector<std::pair<std::string, Headers>> Strangers() {
    const Tenant other = NewTenant("other");
    const std::string team = NewTeam(other.org_id);
    std::vector<std::pair<std::string, Headers>> all = {
        {"a key", {{"x-api-key", other.key}}},
        {"a team's key", {{"x-api-key", NewKey(other.org_id, team)}}}};
    for (const char* role : {"owner", "member", "viewer"}) {
      const std::string email = std::string(role) + "@other.example";
      all.emplace_back(role, Changes(Take(Invite(email, role, nullptr, other.key))));
    }
    all.emplace_back("a member of a team",
                     Changes(Take(Invite("team@other.example", "member", team, other.key))));
    const std::string client =
        Made("/oauth/clients", {{"name", "c"}}, "id", {{"x-api-key", other.key}});
    const std::string token = "vd_at_" + std::string(43, 'b');
    Insert("access_token", "token_sha256, id, kind, org_id, principal_id, expires_at",
           "'\\x" + base::HexEncode(base::Sha256(token)) + "', gen_random_uuid(), 1, " +
               Quoted(other.org_id) + ", " + Quoted(client) + ", now() + interval '1 hour'");
    all.emplace_back("a client's token", Headers{{"authorization", "Bearer " + token}});
    return all;
  }

  // The bodies of routes that name things there, and not in their paths.
  std::vector<Json> BodiesWithIds(std::string_view pattern) {
    const std::map<std::string_view, std::vector<Json>> all = {
        {"/monitors", {With("team_id"), With("resource_handle_id", "handle_id"), WithChannel()}},
        {"/account/channels", {{{"channel_ids", {ids["channel_id"]}}}}},
        {"/account/deliveries/replay", {{{"monitor_id", ids["monitor_id"]}}}},
        {"/account/api-keys", {{{"name", "n"}, {"team_id", ids["team_id"]}}}},
        {"/oauth/clients", {{{"name", "n"}, {"team_id", ids["team_id"]}}}},
        {"/account/invitations",
         {{{"email", "e@e.example"}, {"role", "viewer"}, {"team_id", ids["team_id"]}}}}};
    const auto it = all.find(pattern);
    return it == all.end() ? std::vector<Json>{} : it->second;
  }
  Json With(const char* member, const char* id = "team_id") {
    Json body = GoodBody();
    if (member != std::string_view("team_id")) body.erase("rows");
    body[member] = ids[id];
    return body;
  }
  Json WithChannel() {
    Json body = GoodBody();
    body["channel_ids"] = Json::array({ids["channel_id"]});
    return body;
  }

  std::vector<Attempt> AttemptsAt(const api::Route& route) {
    static const std::map<std::string_view, std::pair<const char*, const char*>> kQueries = {
        {"/workflows/update_workflow", {"workflow_id", "workflow_id"}},
        {"/workflows/delete_workflow", {"workflow_id", "workflow_id"}},
        {"/workflows/run", {"workflow_id", "workflow_id"}},
        {"/workflows/cancel", {"job_id", "run_id"}}};
    std::string path(route.pattern);
    Names names = Names::kNothing;
    for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      const std::size_t end = path.find('}');
      const auto it = ids.find(path.substr(open + 1, end - open - 1));
      EXPECT_NE(it, ids.end()) << "say here what acme has of it: " << route.pattern;
      path.replace(open, end - open + 1, it == ids.end() ? "none" : it->second);
      // A label of a tenant's own, by which a list is narrowed.
      if (route.pattern != "/monitors/for-run/{run_id}") names = Names::kInTarget;
    }
    if (const auto query = kQueries.find(route.pattern); query != kQueries.end()) {
      path += std::string("?") + query->second.first + "=" + ids[query->second.second];
      names = Names::kInTarget;
    }
    std::vector<Attempt> attempts = {{path, route.body == rest::Body::kJson ? "{}" : "", names}};
    if (route.method != "POST") return attempts;
    for (const Json& body : BodiesWithIds(route.pattern)) {
      attempts.push_back({path, body.dump(), Names::kInBody});
    }
    return attempts;
  }

  Reply Try(const api::Route& route, const Attempt& attempt, const Headers& headers) {
    net::ServerRequest request = Request(std::string(route.method), attempt.target, {});
    request.headers = headers;
    if (!attempt.body.empty()) request.headers.emplace_back("content-type", "application/json");
    request.body = attempt.body;
    return AskRaw(std::move(request));
  }

  // Everything that has acme's id beside it.
  std::string AllOfAcme() {
    return Sql(
        "select string_agg(c.relname || query_to_xml('select md5(string_agg(t::text, chr(10) order "
        "by t::text)) from ' || quote_ident(c.relname) || ' t where org_id = ''" +
        acme.org_id +
        "''', true, false, '')::text, ',' order by c.relname) from pg_class c join pg_attribute a "
        "on a.attrelid = c.oid and a.attname = 'org_id' where c.relnamespace = "
        "'public'::regnamespace and c.relkind in ('r', 'p')");
  }

  // What a body names is not found either: a file is a 400 by its name, and there is nothing that
  // could be sent again.
  static bool FindsNothing(const Reply& reply) {
    if (reply.status == 200) return reply.body == Json{{"replayed", 0}};
    return reply.status == 403 || reply.status == 404 || reply.error() == "invalid_resource_handle";
  }

  // Nobody signs out here: what is tried goes on after it.
  static bool IsTried(const api::Route& route) {
    const bool signs_out =
        route.method == "DELETE" && route.pattern.starts_with("/dashboard/session");
    return route.access != rest::Access::kOpen && route.access != rest::Access::kAssertion &&
           !signs_out;
  }

  std::map<std::string, std::string, std::less<>> ids;  // acme's, by the names of parameters
};

TEST_F(ApiAttempts, NobodyElseSeesOrChangesAnythingOnAnyRouteInHundredsOfAttempts) {
  MakeEverything();
  const auto strangers = Strangers();
  const std::string before = AllOfAcme();
  int tried = 0;
  for (const api::Route& route : api::Routes()) {
    if (!IsTried(route)) continue;
    for (const Attempt& attempt : AttemptsAt(route)) {
      for (const auto& [who, headers] : strangers) {
        const Reply reply = Try(route, attempt, headers);
        const auto where = testing::Message()
                           << who << ", " << route.method << " " << attempt.target << " "
                           << attempt.body << " was answered " << reply.status << reply.raw.body;
        EXPECT_THAT(reply.raw.body, Not(HasSubstr(kMark))) << where;
        EXPECT_LT(reply.status, 500) << where;
        if (attempt.names == Names::kNothing) continue;
        ++tried;
        if (attempt.names == Names::kInTarget) {
          EXPECT_THAT(reply.status, AnyOf(403, 404)) << where;
        } else {
          EXPECT_TRUE(FindsNothing(reply)) << where;
        }
      }
    }
  }
  EXPECT_EQ(AllOfAcme(), before);
  EXPECT_FALSE(tester.tested);
  EXPECT_GE(tried, kAttemptsMin);
  RecordProperty("attempts", tried);
}

// The attempts would find what they name: the same requests of acme's own do.
TEST_F(ApiAttempts, WhatIsNamedIsThereForItsOwner) {
  MakeEverything();
  const Reply owner = SignIn("acmes-own@example.com");
  ASSERT_EQ(owner.status, 200) << owner.raw.body;
  for (const api::Route& route : api::Routes()) {
    if (!IsTried(route) || route.method == "DELETE") continue;
    // The task is a find-email, nothing is signed here, and the workflow is wanted further below.
    if (route.pattern == "/verify-age/{task_id}" || route.access == rest::Access::kSignedLink ||
        route.pattern == "/workflows/delete_workflow") {
      continue;
    }
    for (const Attempt& attempt : AttemptsAt(route)) {
      if (attempt.names != Names::kInTarget) continue;
      const Reply reply = Try(route, attempt, Changes(owner));
      EXPECT_THAT(reply.status, Not(AnyOf(403, 404))) << route.method << " " << attempt.target;
    }
  }
}

}  // namespace
}  // namespace vedette::test
