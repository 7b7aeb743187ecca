#include <algorithm>
#include <map>

#include "api/operator/handlers.h"
#include "tests/store/support/operator_support.h"

// Every route of the table, with whatever is wrong: none may be forgotten, because the table itself
// is walked.
namespace vedette::test {
namespace {

using base::Json;

const std::string kPeer = "203.0.113.7";  // AdminTest's
const std::string kForged = "198.51.100.66";

std::vector<admin::Route> TokenRoutes() {
  std::vector<admin::Route> routes;
  for (const admin::Route& route : admin::Routes()) {
    if (route.access == rest::Access::kCredential) routes.push_back(route);
  }
  return routes;
}

// The pattern with each {id} replaced.
std::string Fill(std::string_view pattern, const std::string& id) {
  std::string path(pattern);
  for (auto at = path.find("{id}"); at != std::string::npos; at = path.find("{id}", at)) {
    path.replace(at, 4, id);
    at += id.size();
  }
  return path;
}

bool HasId(const admin::Route& route) {
  return route.pattern.find("{id}") != std::string_view::npos;
}

std::vector<std::string> BadIds() {
  return {"x",         "0",
          "%00",       "..",
          "%2e%2e%2f", "%zz",
          "-1",        "1e9",
          "null",      "00000000-0000-0000-0000-00000000000",
          "' or 1=1",  std::string(5000, 'a'),
          "\xff\xfe",  "018f0000-0000-7000-8000-00000000000g"};
}

// Bodies that are wrong for every route, and values that are wrong for some field.
std::vector<std::string> BadBodies() {
  std::vector<std::string> bodies = {"{",
                                     "]",
                                     "nul",
                                     "[]",
                                     "null",
                                     "5",
                                     "\"text\"",
                                     "{\"a\":}",
                                     "{}{}",
                                     "\xff\xfe{}",
                                     R"({"nobody_asked": 1})",
                                     std::string(100'000, '['),
                                     "{\"reason\":\"" + std::string(501, 'r') + "\"}"};
  const std::vector<std::string> values = {"null",        "true",
                                           "-1",          "1e308",
                                           "1.23456",     "9223372036854775808",
                                           "\"\"",        "\" \"",
                                           "[]",          "{}",
                                           "[null]",      "\"\\u0000\"",
                                           "\"\\ud800\"", "\"" + std::string(10'000, 'v') + "\""};
  for (const char* field : {"reason", "name", "features", "locked", "amount", "spend_limit",
                            "team_id", "overlap_hours", "org_id", "monitor_id", "since", "until"}) {
    for (const std::string& value : values) {
      bodies.push_back("{\"" + std::string(field) + "\":" + value + "}");
    }
  }
  return bodies;
}

std::vector<std::string> BadQueries() {
  std::vector<std::string> queries = {"limit=0",        "limit=-1", "limit=1001",
                                      "limit=abc",      "limit=",   "limit=99999999999999999999",
                                      "limit=1&limit=x"};
  for (const char* name : {"cursor", "q", "status", "state", "kind", "org_id", "monitor_id",
                           "job_id", "stale", "event_group_id", "include_completions"}) {
    for (const std::string& value : {std::string("%00"), std::string("%ff%fe"), std::string("%zz"),
                                     std::string("'%3b drop table audit%3b --"),
                                     std::string("%25_"), std::string(9000, 'x')}) {
      queries.push_back(std::string(name) + "=" + value);
    }
  }
  return queries;
}

class AdminRoutes : public AdminTest {
 protected:
  net::ServerRequest RequestTo(const admin::Route& route, const std::string& path) {
    net::ServerRequest request = Request(std::string(route.method), path,
                                         {{"authorization", std::string("Bearer ") + kToken}});
    request.remote_address = kPeer;
    return request;
  }

  Reply Send(const admin::Route& route, const std::string& path, const std::string& body) {
    net::ServerRequest request = RequestTo(route, path);
    request.headers.emplace_back("content-type", "application/json");
    request.body = body;
    return AskRaw(std::move(request));
  }

  int Audited() { return std::stoi(Sql("select count(*) from audit")); }
};

TEST_F(AdminRoutes, EachWantsAToken) {
  const std::vector<std::string> headers = {"",
                                            "Bearer",
                                            "Bearer ",
                                            "Bearer  ",
                                            "Bearer x",
                                            std::string("Basic ") + kToken,
                                            std::string("Bearer ") + kToken + " ",
                                            std::string("Bearer ") + kToken + std::string("\0x", 2),
                                            std::string(kToken),
                                            "Bearer " + std::string(10'000, 'x'),
                                            "Bearer \xff"};
  const int before = Audited();
  for (const admin::Route& route : TokenRoutes()) {
    for (const std::string& header : headers) {
      net::ServerRequest request =
          RequestTo(route, Fill(route.pattern, base::Uuid::V4().ToString()));
      request.headers = {{"authorization", header},
                         {"cookie", std::string("token=") + kToken},
                         {"x-admin-token", kToken}};
      request.query = std::string("token=") + kToken;
      const Reply reply = AskRaw(std::move(request));
      EXPECT_EQ(reply.status, 401) << route.method << " " << route.pattern << ": " << header;
      EXPECT_EQ(reply.raw.body.find(kToken), std::string::npos);
    }
  }
  EXPECT_FALSE(state.drained);
  EXPECT_EQ(Audited(), before);
}

// What a role may not do is refused before anything else is looked at, and changes nothing.
TEST_F(AdminRoutes, EachRefusesWhoseRoleIsLowerAndNamesTheOneItNeeds) {
  const std::string org = NewOrganisation();
  const int before = Audited();
  int refused = 0;
  for (const admin::Route& route : TokenRoutes()) {
    for (const auto& [token, role] : {std::pair(kViewerToken, admin::Role::kViewer),
                                      std::pair(kOperatorToken, admin::Role::kOperator)}) {
      const bool may = role >= route.role;
      if (may && route.method != "GET") continue;
      net::ServerRequest request = RequestTo(route, Fill(route.pattern, org));
      request.headers = {{"authorization", std::string("Bearer ") + token},
                         {"content-type", "application/json"}};
      request.body = may ? "" : R"({"name":"n","reason":"r","amount":1,"locked":true})";
      const Reply reply = AskRaw(std::move(request));
      EXPECT_EQ(reply.status == 403, !may)
          << route.method << " " << route.pattern << ": " << reply.raw.body;
      if (may) continue;
      ++refused;
      EXPECT_EQ(reply.body["error"], "insufficient_role");
      EXPECT_NE(reply.raw.body.find("the role " + std::string(admin::RoleName(route.role))),
                std::string::npos)
          << reply.raw.body;
    }
  }
  EXPECT_GT(refused, 70);
  EXPECT_EQ(Audited(), before);
  EXPECT_FALSE(state.drained);
}

TEST_F(AdminRoutes, AnOperatorDoesWhatOperatorsDoUnderHisName) {
  net::ServerRequest request;
  request.method = "POST";
  request.target = request.path = "/admin/v1/drain";
  request.headers = {{"authorization", std::string("Bearer ") + kOperatorToken}};
  EXPECT_EQ(AskRaw(std::move(request)).status, 202);
  EXPECT_EQ(Sql("select actor from audit"), "olli");
  request = {};
  request.method = "GET";
  request.target = request.path = "/admin/v1/me";
  request.headers = {{"authorization", std::string("Bearer ") + kViewerToken}};
  EXPECT_EQ(AskRaw(std::move(request)).body, (Json{{"name", "viola"}, {"role", "viewer"}}));
  EXPECT_EQ(Ask("GET", "/admin/v1/me").body, (Json{{"name", "default"}, {"role", "admin"}}));
}

TEST_F(AdminRoutes, EachTellsABadIdFromAMissingThingAsNotFound) {
  for (const admin::Route& route : TokenRoutes()) {
    if (!HasId(route)) continue;
    auto ids = BadIds();
    ids.push_back(base::Uuid::V4().ToString());  // of nothing
    for (const std::string& id : ids) {
      // A body that the routes with a required field take, so that only the id is wrong.
      const Reply reply = Send(route, Fill(route.pattern, id),
                               route.method == "GET" ? "" : R"({"reason":"r","name":"n"})");
      // What a route validates before it looks the thing up is a refusal of the body.
      EXPECT_TRUE(reply.status == 404 || (reply.status == 422 && route.method != "GET"))
          << route.method << " " << route.pattern << " " << id.substr(0, 40) << ": " << reply.status
          << reply.raw.body;
    }
  }
}

// Refused in full, or done and audited: nothing between.
TEST_F(AdminRoutes, EachRefusesBadBodiesReadablyAndAuditsWhatItDoes) {
  const std::string org = NewOrganisation();
  std::map<int, int> statuses;
  for (const admin::Route& route : TokenRoutes()) {
    if (route.method == "GET" || route.pattern == "/admin/v1/drain") continue;
    const int before = Audited();
    int done = 0;
    for (const std::string& body : BadBodies()) {
      const Reply reply = Send(route, Fill(route.pattern, org), body);
      ++statuses[reply.status];
      EXPECT_LT(reply.status, 500) << route.method << " " << route.pattern << " "
                                   << body.substr(0, 100) << ": " << reply.raw.body;
      if (reply.status < 300) {
        ++done;
      } else {
        EXPECT_TRUE(reply.body.contains("message") || reply.body.contains("detail"))
            << reply.raw.body;
      }
    }
    EXPECT_EQ(Audited() - before, done) << route.method << " " << route.pattern;

    net::ServerRequest large = RequestTo(route, Fill(route.pattern, org));
    large.body_too_large = true;
    EXPECT_EQ(AskRaw(std::move(large)).status, 413) << route.pattern;
    net::ServerRequest form = RequestTo(route, Fill(route.pattern, org));
    form.headers.emplace_back("content-type", "application/x-www-form-urlencoded");
    form.body = "reason=r";
    EXPECT_EQ(AskRaw(std::move(form)).status, 415) << route.pattern;
  }
  EXPECT_GT(statuses[422], 100);
  EXPECT_FALSE(state.drained);
}

// A change that is made here of an organisation that lives elsewhere is lost, by whatever it is
// named.
TEST_F(AdminRoutes, NoneChangesAnOrganisationThatLivesElsewhere) {
  const std::string org = NewOrganisation();
  Sql("update organisation set locked = true, lives_at = 'c3'");
  const int before = Audited();
  const Json person{{"email", "ann@acme.example"}, {"reason", "r"}};
  const Json import{{"import_id", base::Uuid::V4().ToString()},
                    {"mode", "people"},
                    {"first_line", 0},
                    {"lines", Json::array()}};
  // Bodies that are right but for the organisation, of the routes whose body may name one.
  const std::map<std::string_view, Json> bodies{{"/admin/v1/suppressions", person},
                                                {"/admin/v1/suppressions/remove", person},
                                                {"/admin/v1/erase", person},
                                                {"/admin/v1/deliveries/replay", Json::object()},
                                                {"/admin/v1/search/import", import}};
  for (const admin::Route& route : TokenRoutes()) {
    if (route.method == "GET" || route.pattern == "/admin/v1/drain") continue;
    const auto known = bodies.find(route.pattern);
    Json body = known == bodies.end() ? Json{{"nobody_asks", 1}} : known->second;
    body["org_id"] = org;
    const Reply reply = Send(route, Fill(route.pattern, org), base::DumpJson(body));
    if (known == bodies.end() && !HasId(route)) {
      const std::string unknown = R"(["body","org_id"])";
      EXPECT_NE(reply.raw.body.find(unknown), std::string::npos)
          << route.pattern << " takes an organisation, and has no body here: " << reply.raw.body;
      continue;
    }
    if (route.pattern.starts_with("/admin/v1/console/")) continue;  // a session of the operator's
    EXPECT_EQ(reply.status, 409) << route.method << " " << route.pattern << reply.raw.body;
    EXPECT_EQ(reply.body["error"], "organisation_elsewhere");
    EXPECT_EQ(reply.body["cell"], "c3");
  }
  EXPECT_EQ(Audited(), before);
  EXPECT_EQ(Sql("select (select count(*) from suppression) + (select count(*) from search_import)"),
            "0");
}

TEST_F(AdminRoutes, NoneDeniesAnOrganisationThatLivesElsewhere) {
  const std::string org = NewOrganisation();
  Sql("update organisation set locked = true, lives_at = 'c3'");
  Sql("delete from account");
  for (const admin::Route& route : TokenRoutes()) {
    if (route.method != "GET" || !HasId(route)) continue;
    // Snapshots are kept, and their ids say nothing of an organisation.
    if (route.pattern.starts_with("/admin/v1/snapshots/")) continue;
    const Reply reply = Send(route, Fill(route.pattern, org), "");
    if (reply.status == 200) continue;  // what is kept
    EXPECT_EQ(reply.status, 409) << route.pattern << reply.raw.body;
    EXPECT_EQ(reply.body["cell"], "c3") << route.pattern;
  }
}

TEST_F(AdminRoutes, EachTakesBadQueriesForWhatTheyAre) {
  const std::string org = NewOrganisation();
  for (const admin::Route& route : TokenRoutes()) {
    if (route.method != "GET") continue;
    for (const std::string& query : BadQueries()) {
      const Reply reply = Send(route, Fill(route.pattern, org) + "?" + query, "");
      EXPECT_LT(reply.status, 500)
          << route.pattern << "?" << query.substr(0, 100) << ": " << reply.raw.body;
      EXPECT_FALSE(reply.body.is_null()) << "an answer is JSON";
    }
  }
  EXPECT_EQ(Sql("select count(*) from organisation"), "1");
}

// The caller and the address come from the token and the connection, whatever the headers claim.
TEST_F(AdminRoutes, HeadersForgeNothingInTheAudit) {
  const std::string org = NewOrganisation();
  Sql("delete from audit");
  for (const admin::Route& route : TokenRoutes()) {
    if (route.method == "GET") continue;
    for (const char* body :
         {R"({"reason":"r","actor":"mallory","remote_address":"198.51.100.66"})",
          R"({"reason":"r"})", R"({"name":"n","reason":"r"})", R"({"amount":1,"reason":"r"})",
          R"({"locked":true,"reason":"r"})", R"({"overlap_hours":0,"reason":"r"})"}) {
      net::ServerRequest request = RequestTo(route, Fill(route.pattern, org));
      request.headers.insert(request.headers.end(), {{"content-type", "application/json"},
                                                     {"x-forwarded-for", kForged},
                                                     {"forwarded", "for=" + kForged},
                                                     {"x-real-ip", kForged},
                                                     {"x-client-ip", kForged},
                                                     {"true-client-ip", kForged},
                                                     {"cf-connecting-ip", kForged},
                                                     {"via", "1.1 " + kForged},
                                                     {"from", "mallory"},
                                                     {"x-remote-user", "mallory"},
                                                     {"x-forwarded-user", "mallory"},
                                                     {"x-actor", "mallory"},
                                                     {"user", "mallory"},
                                                     {"x-request-id", "mallory"}});
      request.body = body;
      AskRaw(std::move(request));
    }
  }
  EXPECT_GE(Audited(), 5) << "what succeeds was among them";
  EXPECT_EQ(Sql("select string_agg(distinct actor || ' ' || remote_address, ',') from audit"),
            "default " + kPeer);
  EXPECT_EQ(Sql("select count(*) from audit where audit::text ~ 'mallory|198.51'"), "0");
}

}  // namespace
}  // namespace vedette::test
