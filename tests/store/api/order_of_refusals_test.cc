// The order in which requests are validated, and what each refusal carries, on every route of the
// table (docs/authentication.md, "Answers").
#include <gmock/gmock.h>

#include <set>

#include "base/crypto.h"
#include "config/auth_config.h"
#include "domain/auth/principal.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiOrder : public ApiTest {
 public:
  ApiOrder()
      : ApiTest({{"VEDETTE_API_PUBLIC_URL", "https://api.example.com"}},
                [](config::Config& c) { c.dashboard.enabled = true; }) {}

  Reply AskRoute(const api::Route& route, const Headers& headers, const std::string& body = "",
                 bool too_large = false) {
    net::ServerRequest request = BareRequest(route);
    request.headers = headers;
    request.body = body;
    request.body_too_large = too_large;
    return AskRaw(std::move(request));
  }
  Headers Key() const { return {{"x-api-key", acme.key}}; }
  Headers Session(const std::string& user) {
    const std::string token = "vd_ses_" + base::RandomBase62(43);
    const auto principal = domain::UserPrincipal(*base::Uuid::Parse(acme.org_id), user);
    Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, user_id, "
        "expires_at) values ('\\x" +
        base::HexEncode(base::Sha256(token)) + "', gen_random_uuid(), 2, '" + acme.org_id + "', '" +
        principal.ToString() + "', '" + user + "', now() + interval '1 hour')");
    return {{"authorization", "Bearer " + token}};
  }
  // The principals of acme have made all of their requests of this minute and of the next ones.
  void UseUp() {
    Sql("insert into rate_window (api_key_id, minute_at, requests) select p.id, m, 100000 from "
        "(select id from api_key where org_id = '" +
        acme.org_id +
        "' union select principal_id from access_token) p, "
        "generate_series(date_trunc('minute', now()), now() + interval '1 hour', '1 minute') m "
        "on conflict (api_key_id, minute_at) do update set requests = excluded.requests");
  }

  // JSON routes whose things are named in the query, which is validated before the body.
  static bool NamedInQuery(const api::Route& route) {
    return route.pattern == "/workflows/run" || route.pattern == "/workflows/update_workflow" ||
           route.pattern == "/workflows/delete_workflow" || route.pattern == "/workflows/cancel";
  }
  static std::vector<const api::Route*> JsonRoutes(bool with_ids) {
    std::vector<const api::Route*> routes;
    for (const api::Route* route : CredentialRoutes()) {
      if (route->body != rest::Body::kJson || NamedInQuery(*route)) continue;
      // They are about the session that asks, which a key is not.
      if (route->pattern.starts_with("/dashboard/")) continue;
      if ((route->pattern.find('{') != std::string_view::npos) == with_ids) routes.push_back(route);
    }
    return routes;
  }
  static std::vector<const api::Route*> AssertionRoutes() {
    std::vector<const api::Route*> routes;
    for (const api::Route& route : api::Routes()) {
      if (route.access == rest::Access::kAssertion) routes.push_back(&route);
    }
    return routes;
  }
};

TEST_F(ApiOrder, TheLimitComesBeforeTheLockTheUserTheFeatureAndTheBody) {
  const Headers session = Session("ada");
  UseUp();
  Sql("update organisation set locked = true, features = '{}'");
  for (Headers headers : {Key(), session}) {
    headers.emplace_back("service-forwarded-user", "stranger");
    for (const api::Route* route : CredentialRoutes()) {
      const Reply reply = AskRoute(*route, headers, "{", true);
      ASSERT_EQ(reply.status, 429) << route->pattern << reply.raw.body;
      EXPECT_EQ(reply.error(), "rate_limited") << route->pattern;
      EXPECT_FALSE(reply.message().empty());
      const int wait = std::stoi(reply.Header("Retry-After"));
      EXPECT_GE(wait, 1);
      EXPECT_LE(wait, 60);
      EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "500");
      EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), "0");
      EXPECT_EQ(std::stoll(reply.Header("X-RateLimit-Reset")) % 60, 0);
      EXPECT_EQ(reply.Header("WWW-Authenticate"), "");
    }
  }
}

TEST_F(ApiOrder, AParameterThatARouteDoesNotHaveIsRefusedAfterTheCredential) {
  for (const api::Route* route : CredentialRoutes()) {
    net::ServerRequest request = BareRequest(*route);
    request.query = "no_such=1";
    request.body = "{}";
    EXPECT_EQ(AskRaw(request).status, 401) << route->pattern;
    // What the path or the query names is looked for first where the route reads parameters.
    if (route->query == rest::Query::kRead && route->pattern.find('{') != std::string_view::npos) {
      continue;
    }
    request.headers = Key();
    const Reply reply = AskRaw(std::move(request));
    EXPECT_EQ(reply.status, 422) << route->pattern << reply.raw.body;
    EXPECT_THAT(reply.raw.body, HasSubstr(R"(["query","no_such"])")) << route->pattern;
  }
}

TEST_F(ApiOrder, AMissingOrWrongCredentialIsNotCountedAndComesBeforeTheLimit) {
  UseUp();
  for (const api::Route* route : CredentialRoutes()) {
    for (const Headers& headers : {Headers{}, Headers{{"x-api-key", "nonsense"}},
                                   Headers{{"authorization", "Bearer nonsense"}}}) {
      const Reply reply = AskRoute(*route, headers, "{", true);
      EXPECT_EQ(reply.status, 401) << route->pattern;
      EXPECT_THAT(reply.Header("WWW-Authenticate"), HasSubstr("realm=\"vedette\""));
      EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "") << route->pattern;
      EXPECT_EQ(reply.Header("Retry-After"), "");
    }
  }
}

TEST_F(ApiOrder, WhatCannotBeCheckedIs503OnEveryRouteAndSaysWhenToComeAgain) {
  const Headers session = Session("ada");
  pool.Stop();  // as where every connection is taken and the queue is full
  for (const api::Route& route : api::Routes()) {
    if (route.access == rest::Access::kOpen) continue;
    for (const Headers& headers : {Key(), session}) {
      const Reply reply = AskRoute(route, headers, "{}");
      EXPECT_EQ(reply.status, 503) << route.pattern << reply.raw.body;
      const bool asserts = route.access == rest::Access::kAssertion;
      EXPECT_EQ(reply.error(), asserts ? "temporarily_unavailable" : "unavailable")
          << route.pattern;
      EXPECT_EQ(reply.body.value("error_description", ""), asserts ? reply.message() : "");
      EXPECT_EQ(reply.Header("Retry-After"), "5") << route.pattern;
      EXPECT_EQ(reply.Header("WWW-Authenticate"), "") << route.pattern;
    }
    // What can be validated without the database is.
    if (route.access != rest::Access::kCredential && route.access != rest::Access::kManagement) {
      continue;
    }
    EXPECT_EQ(AskRoute(route, {}).status, 401) << route.pattern;
    Headers both = Key();
    both.insert(both.end(), session.begin(), session.end());
    EXPECT_EQ(AskRoute(route, both).status, 400) << route.pattern;
  }
}

TEST_F(ApiOrder, WhatThePathNamesIsCheckedBeforeTheBody) {
  const auto routes = JsonRoutes(true);
  ASSERT_GE(routes.size(), 12U);
  for (const api::Route* route : routes) {
    Headers plain = Key();
    plain.emplace_back("content-type", "text/plain");
    net::ServerRequest unknown = BareRequest(*route, base::Uuid::V4().ToString());
    unknown.headers = Key();
    unknown.body = "{";
    for (const Reply& reply : {AskRoute(*route, Key(), "{", false), AskRoute(*route, plain, "{}"),
                               AskRoute(*route, Key(), "", true), AskRaw(std::move(unknown))}) {
      EXPECT_EQ(reply.status, 404) << route->pattern << reply.raw.body;
      EXPECT_EQ(reply.error(), "not_found") << route->pattern;
      EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "500") << "of every authenticated answer";
    }
  }
}

TEST_F(ApiOrder, ABodyIsCheckedBySizeTypeFormAndFieldsInThisOrder) {
  const auto routes = JsonRoutes(false);
  ASSERT_GE(routes.size(), 12U);
  for (const api::Route* route : routes) {
    Headers plain = Key();
    plain.emplace_back("content-type", "text/plain");
    const Reply large = AskRoute(*route, plain, "", true);
    EXPECT_EQ(large.status, 413) << route->pattern << large.raw.body;
    EXPECT_EQ(AskRoute(*route, plain, "{").status, 415) << route->pattern;
    const bool takes_none = route->pattern.starts_with("/account/signing-secrets") ||
                            route->pattern == "/account/deliveries/replay";
    for (const char* body : {"{", "[]", "", "\"text\"", "{\"a\":\"\xff\"}"}) {
      if (takes_none && *body == 0) continue;
      const Reply malformed = AskRoute(*route, Key(), body);
      EXPECT_EQ(malformed.status, 400) << route->pattern << malformed.raw.body;
      EXPECT_EQ(malformed.error(), "malformed_json") << route->pattern << " " << body;
    }
    const Reply unknown = AskRoute(*route, Key(), R"({"nobody_asked":1})");
    EXPECT_EQ(unknown.status, 422) << route->pattern << unknown.raw.body;
    EXPECT_TRUE(unknown.body["detail"].is_array()) << route->pattern;
  }
}

// Two processes, and callers whose tokens differ.
class ApiCallers : public ApiOrder {
 public:
  // Two tokens of one client, as /oauth/token makes them.
  std::vector<Headers> ClientTokens() {
    const std::string id = Ask("POST", "/oauth/clients", Json{{"name", "c"}}).body["client_id"];
    client = id;
    std::vector<Headers> tokens;
    for (int i = 0; i < 2; ++i) {
      const std::string token = "vd_at_" + base::RandomBase62(43);
      Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, "
          "principal_version, expires_at) select '\\x" +
          base::HexEncode(base::Sha256(token)) +
          "', gen_random_uuid(), 1, org_id, id, token_version, now() + interval '1 hour' from "
          "oauth_client where id = '" +
          id + "'");
      tokens.push_back({{"authorization", "Bearer " + token}});
    }
    return tokens;
  }
  Reply AskOn(api::Api* process, const Headers& headers) {
    const auto exchange = std::make_shared<ApiExchange>(Request("GET", "/credits", headers));
    process->Handle(exchange);
    Reply reply;
    reply.raw = exchange->Wait();
    reply.status = reply.raw.status;
    return reply;
  }

  api::Api second{
      config,   pool,    signals,
      clock,    metrics, policy,
      outgoing, *waits,  [](const std::string&, const std::string&) { return std::nullopt; },
      log};
  std::string client;
};

TEST_F(ApiCallers, AllTokensOfAClientAndAllSessionsOfAUserAreCountedTogetherOverTheFleet) {
  const auto tokens = ClientTokens();
  const std::vector<Headers> sessions{Session("ada"), Session("ada")};
  for (const auto& credentials : {tokens, sessions}) {
    Sql("delete from rate_window");
    for (api::Api* process : {&api, &second}) {
      for (const Headers& headers : credentials) {
        const Reply reply = AskOn(process, headers);
        EXPECT_EQ(reply.status, 200) << reply.raw.body;
        EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "500");
      }
    }
    EXPECT_EQ(Sql("select count(distinct api_key_id) || ' ' || sum(requests) from rate_window"),
              "1 4");
  }
  pool.Stop();
}

TEST_F(ApiCallers, WhatEndsOnOneProcessIsRefusedByTheOtherAtTheNextRequest) {
  const auto tokens = ClientTokens();
  const Headers session = Session("ada");
  const Headers key{{"x-api-key", NewKey(acme.org_id, std::nullopt)}};
  for (const Headers& headers : {tokens[0], tokens[1], session, key}) {
    EXPECT_EQ(AskOn(&second, headers).status, 200);
  }
  EXPECT_EQ(Ask("POST", "/oauth/clients/" + client + "/revoke-tokens", Json::object()).status, 200);
  for (const Headers& token : tokens) EXPECT_EQ(AskOn(&second, token).status, 401);
  Sql("delete from access_token where kind = 2");
  EXPECT_EQ(AskOn(&second, session).status, 401);
  Sql("update organisation set locked = true");
  EXPECT_EQ(AskOn(&second, key).status, 403);
  pool.Stop();
}

TEST_F(ApiOrder, TheRoutesOfTheProtocolHaveOneShapeOfError) {
  const auto routes = AssertionRoutes();
  ASSERT_EQ(routes.size(), 3U);
  const Headers form{{"content-type", "application/x-www-form-urlencoded"}};
  const std::string asserting =
      "grant_type=client_credentials&token=x&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A"
      "client-assertion-type%3Ajwt-bearer&client_assertion=";
  for (const api::Route* route : routes) {
    const auto expect = [&](const Reply& reply, int status, const char* error) {
      EXPECT_EQ(reply.status, status) << route->pattern << reply.raw.body;
      EXPECT_EQ(reply.error(), error) << route->pattern;
      EXPECT_EQ(reply.body["error_description"], reply.body["message"]) << route->pattern;
      EXPECT_EQ(reply.Header("WWW-Authenticate"), status == 401 ? "Bearer realm=\"vedette\"" : "");
    };
    expect(AskRoute(*route, Key(), "{}"), 415, "invalid_request");
    expect(AskRoute(*route, form, "grant_type=client_credentials&token=x"), 400, "invalid_request");
    expect(AskRoute(*route, form, asserting + "a.b"), 400, "invalid_request");
    expect(AskRoute(*route, form, asserting + "a.b.c"), 401, "invalid_client");
    EXPECT_EQ(AskRoute(*route, form, "", true).status, 413) << route->pattern;
  }
}

}  // namespace
}  // namespace vedette::test
