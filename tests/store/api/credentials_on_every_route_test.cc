// Every credential on every route of the table, and the order in which requests are validated
// (docs/authentication.md).
#include <gmock/gmock.h>

#include "config/auth_config.h"
#include "tests/store/support/tenant_credentials.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ApiCredentials, EachKindOfCredentialIsTakenOnEveryRouteOfTheTable) {
  const Client client = NewClient();
  const std::string token = NewToken(client);
  const std::string session = NewSession("ada");
  for (const Headers& credential :
       {Headers{{"x-api-key", acme.key}}, Bearer(token), Bearer(session),
        Headers{{"authorization", "bEARER   " + session}}}) {
    for (const api::Route* route : CredentialRoutes()) {
      const Reply reply = AskRoute(*route, credential);
      const bool client_token = credential.back().second == "Bearer " + token;
      if (route->access == rest::Access::kManagement && client_token) {
        EXPECT_EQ(reply.error(), "credential_not_allowed") << route->pattern;
        continue;
      }
      EXPECT_NE(reply.status, 401) << route->pattern;
      EXPECT_NE(reply.status, 403) << route->pattern << reply.raw.body;
      EXPECT_LT(reply.status, 500) << route->pattern << reply.raw.body;
    }
  }
}

TEST_F(ApiCredentials, WhatIsNoCredentialIs401OnEveryRouteWithItsChallenge) {
  const std::string session = NewSession("ada");
  const std::string bearer = "Bearer realm=\"vedette\"";
  const auto token_like = [](const std::string& prefix) { return prefix + std::string(43, 'a'); };
  struct Case {
    Headers headers;
    const char* error;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{}, "unauthorized", "x-api-key"},
      {{{"x-api-key", " "}, {"authorization", ""}}, "unauthorized", "missing"},
      {{{"authorization", "Basic YTpi"}}, "unauthorized", "missing"},
      {{{"x-api-key", "nonsense"}}, "unauthorized", "not valid"},
      {{{"x-api-key", token_like("vd_live_")}}, "unauthorized", "not valid"},
      {{{"x-api-key", session}}, "unauthorized", "Authorization"},
      {{{"x-api-key", token_like("vd_at_")}}, "unauthorized", "Authorization"},
      {Bearer(acme.key), "unauthorized", "x-api-key"},
      {Bearer(""), "invalid_token", "not valid"},
      {Bearer("nonsense"), "invalid_token", "not valid"},
      {Bearer(token_like("vd_at_")), "invalid_token", "not valid"},
      {Bearer(token_like("vd_ses_")), "invalid_token", "not valid"},
      {Bearer("a.b.c"), "invalid_token", "not valid"},
      {Bearer(session + "a"), "invalid_token", "not valid"},
  };
  for (const api::Route* route : CredentialRoutes()) {
    for (const Case& one : cases) {
      const Reply reply = AskRoute(*route, one.headers);
      EXPECT_EQ(reply.status, 401) << route->pattern << " " << one.says;
      EXPECT_EQ(reply.error(), one.error);
      EXPECT_THAT(reply.message(), HasSubstr(one.says));
      EXPECT_THAT(reply.Header("WWW-Authenticate"), StartsWith(bearer));
      const bool names_it =
          reply.Header("WWW-Authenticate").find("invalid_token") != std::string::npos;
      EXPECT_EQ(names_it, reply.error() == "invalid_token");
    }
  }
}

TEST_F(ApiCredentials, TwoCredentialsAndRepeatedHeadersAre400OnEveryRoute) {
  const std::string session = NewSession("ada");
  const std::vector<Headers> ambiguous = {
      {{"x-api-key", acme.key}, {"authorization", "Bearer " + session}},
      {{"x-api-key", "bad"}, {"authorization", "Bearer bad"}},
      {{"x-api-key", acme.key}, {"x-api-key", acme.key}},
      {{"authorization", "Bearer " + session}, {"authorization", "Bearer " + session}},
  };
  for (const api::Route* route : CredentialRoutes()) {
    for (const Headers& headers : ambiguous) {
      const Reply reply = AskRoute(*route, headers);
      EXPECT_EQ(reply.status, 400) << route->pattern;
      EXPECT_EQ(reply.error(), "ambiguous_credentials");
      EXPECT_THAT(reply.Header("WWW-Authenticate"), HasSubstr("error=\"invalid_request\""));
    }
    // Another scheme beside a key is a proxy's.
    const Reply proxied =
        AskRoute(*route, {{"x-api-key", acme.key}, {"authorization", "Basic YTpi"}});
    EXPECT_NE(proxied.status, 401) << route->pattern;
    EXPECT_NE(proxied.error(), "ambiguous_credentials");
  }
}

TEST_F(ApiCredentials, RequestsAreCheckedInOrderOnEveryRoute) {
  const std::string session = NewSession("ada", NewTeam(acme.org_id));
  Headers headers = Bearer(session);
  headers.emplace_back("service-forwarded-user", "stranger");
  Sql("update organisation set locked = true, features = '{}'");
  const auto expect = [&](const char* error) {
    for (const api::Route* route : CredentialRoutes()) {
      const bool managed = route->access == rest::Access::kManagement;
      if (error == std::string_view("credential_not_allowed") && !managed) continue;
      if (error == std::string_view("feature_not_enabled") && route->feature.empty()) continue;
      if (error == std::string_view("organisation_locked") && route->when_locked) continue;
      EXPECT_EQ(AskRoute(*route, headers).error(), error) << route->pattern;
    }
  };
  expect("organisation_locked");
  Sql("update organisation set locked = false");
  expect("unknown_user");
  headers.back().second = "ada";
  expect("credential_not_allowed");
  expect("feature_not_enabled");
  EXPECT_EQ(
      Ask("GET", "/nothing", Headers{{"x-api-key", "a"}, {"authorization", "Bearer b"}}).status,
      404);
}

TEST_F(ApiCredentials, AForwardedUserIsAMemberAndWithASessionItsOwnUser) {
  const std::string session = NewSession("ada");
  NewSession("bob");
  const Tenant other = NewTenant("other");
  Sql("insert into org_user (org_id, user_id) values ('" + other.org_id + "', 'eve')");
  const auto ask = [&](Headers headers, const std::string& user) {
    headers.emplace_back("service-forwarded-user", user);
    return Ask("GET", "/credits", headers);
  };
  for (const char* member : {"ada", "bob"}) {
    EXPECT_EQ(ask({{"x-api-key", acme.key}}, member).status, 200);
  }
  EXPECT_EQ(ask(Bearer(session), "ada").status, 200);
  const Reply foreign = ask({{"x-api-key", acme.key}}, "eve");
  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(foreign.error(), "unknown_user");
  EXPECT_EQ(ask({{"x-api-key", acme.key}}, "nobody").raw.body, foreign.raw.body)
      << "whether the user exists elsewhere is not told";
  EXPECT_EQ(ask(Bearer(session), "bob").error(), "unknown_user");
  const Json lead{{"lead", {{"personal_email", "ada@home.example"}}}, {"mode", "PERSONAL"}};
  Ask("POST", "/find-email-async", lead, {{"service-forwarded-user", "bob"}});
  EXPECT_EQ(Sql("select on_behalf_of || caller_kind from job"), "bob0");
}

TEST_F(ApiCredentials, ASessionEndsWithItsRowItsTimeAndItsUser) {
  const std::string session = NewSession("ada");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(session)).status, 200);
  Sql("update access_token set expires_at = now()");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(session)).status, 401);
  Sql("update access_token set expires_at = now() + interval '1 hour'");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(session)).status, 200);
  Sql("delete from access_token");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(session)).error(), "invalid_token");
}

TEST_F(ApiCredentials, AClientGetsATokenAndMayDoWhatAKeyOfItsTeamMay) {
  const std::string team = NewTeam(acme.org_id);
  const std::string id =
      Ask("POST", "/oauth/clients", Json{{"name", "team's"}, {"team_id", team}}).body["id"];
  const Client client{id, test::NewKey("P-256")};
  Ask("POST", "/oauth/clients/" + id + "/keys",
      Json{{"public_key_pem", client.key.PublicPem()}, {"kid", "k1"}});
  const Reply reply = AskToken(Assertion(client));
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["token_type"], "Bearer");
  EXPECT_EQ(reply.body["expires_in"], 3600);
  EXPECT_EQ(reply.body["scope"], "full_access");
  EXPECT_EQ(reply.Header("Cache-Control"), "no-store");
  EXPECT_EQ(reply.Header("Pragma"), "no-cache");
  const std::string token = reply.body["access_token"];
  EXPECT_THAT(token, StartsWith("vd_at_"));
  const std::string foreign = NewMonitor();
  EXPECT_EQ(Ask("GET", "/monitors/" + foreign, Bearer(token)).status, 404);
  const std::string own = NewMonitor({{"team_id", team}});
  EXPECT_EQ(Ask("GET", "/monitors/" + own, Bearer(token)).status, 200);
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).body["team"]["id"], team);
  EXPECT_EQ(Sql("select count(*) from access_token where position(convert_to('" + token +
                "', 'UTF8') in token_sha256) > 0"),
            "0");
}

TEST_F(ApiCredentials, EveryHostileAssertionIsRefusedWithoutADistinctionOnTheWire) {
  const Client client = NewClient();
  const Client other = NewClient("RSA-2048", 1);
  const HostileSetting setting{client.id, other.id, kIssuer, kIssuer + "/oauth/token", Now()};
  ASSERT_EQ(AskToken(GoodAssertion(setting)).status, 200);
  const auto hostile = HostileAssertions(setting);
  ASSERT_GE(hostile.size(), 64U);
  for (const HostileToken& token : hostile) {
    const Reply reply = AskToken(token.token);
    EXPECT_TRUE(reply.status == 400 || reply.status == 401) << token.name << reply.raw.body;
    if (reply.status == 401) {
      EXPECT_EQ(reply.error(), "invalid_client") << token.name;
      EXPECT_EQ(reply.body["error_description"], reply.message());
      EXPECT_EQ(reply.Header("WWW-Authenticate"), "Bearer realm=\"vedette\"");
    }
  }
  EXPECT_EQ(Sql("select count(*) from access_token"), "1");
  EXPECT_EQ(Sql("select count(*) from assertion_jti"), "1");
}

TEST_F(ApiCredentials, OfEqualAssertionsOnTwoProcessesExactlyOneGetsAToken) {
  const Client client = NewClient("Ed25519");
  api::Api second(
      config, pool, signals, clock, metrics, policy, outgoing, *waits,
      [](const std::string&, const std::string&) { return std::nullopt; }, log);
  const std::string assertion = Assertion(client);
  std::vector<std::shared_ptr<ApiExchange>> sent;
  for (int i = 0; i < 100; ++i) {
    net::ServerRequest request;
    request.method = "POST";
    request.path = request.target = "/oauth/token";
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    request.body = Form(assertion, "grant_type=client_credentials");
    sent.push_back(std::make_shared<ApiExchange>(std::move(request)));
    (i % 2 == 0 ? api : second).Handle(sent.back());
  }
  int minted = 0;
  for (const auto& exchange : sent) {
    const auto answer = exchange->Wait();
    minted += answer.status == 200 ? 1 : 0;
    EXPECT_TRUE(answer.status == 200 || answer.status == 401) << answer.body;
  }
  EXPECT_EQ(minted, 1);
  EXPECT_EQ(Sql("select count(*) from access_token"), "1");
  pool.Stop();
}

TEST_F(ApiCredentials, WhatTakesAClientItsKeyOrItsTokensAwayHoldsAtTheNextRequest) {
  const auto works = [this](const std::string& token) {
    return Ask("GET", "/credits", Bearer(token)).status == 200;
  };
  const Client client = NewClient();
  const std::string path = "/oauth/clients/" + client.id;
  std::string token = NewToken(client);
  EXPECT_TRUE(works(token));
  EXPECT_EQ(Ask("POST", path + "/revoke-tokens", Json::object()).status, 200);
  EXPECT_FALSE(works(token));
  token = NewToken(client);
  const Reply nothing = Ask("PATCH", path, Json::object());
  EXPECT_EQ(nothing.status, 422);
  EXPECT_EQ(nothing.loc(), R"(["body"])") << nothing.raw.body;
  EXPECT_EQ(Ask("PATCH", path, Json{{"status", "disabled"}}).status, 200);
  EXPECT_FALSE(works(token));
  EXPECT_EQ(AskToken(Assertion(client)).error(), "invalid_client");
  EXPECT_EQ(Ask("PATCH", path, Json{{"status", "active"}}).status, 200);
  EXPECT_FALSE(works(token)) << "a token that was voided does not come back";
  token = NewToken(client);
  EXPECT_EQ(Ask("DELETE", path + "/keys/k1").status, 200);
  EXPECT_FALSE(works(token));
  EXPECT_EQ(AskToken(Assertion(client)).error(), "invalid_client");
  const Client second = NewClient();
  token = NewToken(second);
  EXPECT_EQ(Ask("DELETE", "/oauth/clients/" + second.id).status, 200);
  EXPECT_FALSE(works(token));
  EXPECT_EQ(Ask("GET", "/oauth/clients/" + second.id).status, 404);
}

TEST_F(ApiCredentials, ALockedOrganisationKeepsItsTokensForLater) {
  const Client client = NewClient();
  const std::string token = NewToken(client);
  Sql("update organisation set locked = true");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).error(), "organisation_locked");
  EXPECT_EQ(AskToken(Assertion(client)).error(), "organisation_locked");
  Sql("update organisation set locked = false");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).status, 200);
}

TEST_F(ApiCredentials, RevocationAndIntrospectionKnowTheTokensOfTheOwnOrganisationAlone) {
  const Client client = NewClient();
  const std::string token = NewToken(client);
  const auto ask = [&](const std::string& path, const Client& who, const std::string& what) {
    return PostForm(path, Form(Assertion(who), "token=" + what));
  };
  const Reply live = ask("/oauth/introspect", client, token);
  EXPECT_EQ(live.body["active"], true) << live.raw.body;
  EXPECT_EQ(live.body["client_id"], client.id);
  EXPECT_EQ(live.body["iss"], kIssuer);
  EXPECT_EQ(live.body["exp"].get<std::int64_t>() - live.body["iat"].get<std::int64_t>(), 3600);
  EXPECT_EQ(ask("/oauth/introspect", client, "nonsense").raw.body, R"({"active":false})");
  // Another client's of the same organisation sees it and cannot end it; a stranger does neither.
  const Client sister = NewClient("P-256");
  EXPECT_EQ(ask("/oauth/introspect", sister, token).body["active"], true);
  EXPECT_EQ(ask("/oauth/revoke", sister, token).status, 200);
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).status, 200);
  const Tenant mine = acme;
  acme = NewTenant("other");
  const Client stranger = NewClient("Ed25519");
  EXPECT_EQ(ask("/oauth/introspect", stranger, token).raw.body, R"({"active":false})");
  acme = mine;
  EXPECT_EQ(ask("/oauth/revoke", client, token).raw.body, "{}");
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).status, 401);
  EXPECT_EQ(ask("/oauth/introspect", client, token).raw.body, R"({"active":false})");
}

TEST_F(ApiCredentials, TheFormOfATokenRequestIsCheckedInOrder) {
  const Client client = NewClient();
  const std::string good = Form(Assertion(client), "grant_type=client_credentials");
  EXPECT_EQ(PostForm("/oauth/token", good, "application/json").status, 415);
  EXPECT_EQ(PostForm("/oauth/token", "").error(), "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", good + "&grant_type=client_credentials").error(),
            "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", good + "&x=%zz").error(), "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", good + "&x=" + std::string(9000, 'x')).error(),
            "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", "grant_type=client_credentials").error(), "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", Form("a.b", "grant_type=client_credentials")).error(),
            "invalid_request");
  EXPECT_EQ(PostForm("/oauth/token", Form("a.b.c", "grant_type=password")).error(),
            "unsupported_grant_type");
  EXPECT_EQ(AskToken(Assertion(client), "&client_id=" + acme.org_id).error(), "invalid_client");
  EXPECT_EQ(AskToken(Assertion(client), "&scope=everything").error(), "invalid_scope");
  EXPECT_EQ(AskToken(Assertion(client), "&scope=&unknown=1&client_id=" + client.id).status, 200);
  EXPECT_EQ(AskToken(Assertion(client), "&scope=full_access").status, 200);
}

TEST_F(ApiCredentials, TheIssuerIsTheConfiguredOneWhateverTheHost) {
  const Reply reply =
      Ask("GET", "/.well-known/oauth-authorization-server", Headers{{"host", "attacker.example"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["issuer"], kIssuer);
  EXPECT_EQ(reply.body["token_endpoint"], kIssuer + "/oauth/token");
  EXPECT_EQ(reply.body["grant_types_supported"], Json::array({"client_credentials"}));
  EXPECT_FALSE(reply.body.contains("response_types_supported"));
}

class ApiWithoutOauth : public ApiCredentials {
 public:
  ApiWithoutOauth() : ApiCredentials({{"VEDETTE_OAUTH_ENABLED", "false"}}) {}
};

TEST_F(ApiWithoutOauth, SwitchedOffItsRoutesAre404AndTokensOfClientsAreVoid) {
  const Client client = NewClient();
  EXPECT_EQ(AskToken(Assertion(client)).status, 404);
  EXPECT_EQ(AskToken(Assertion(client)).error(), "oauth_not_configured");
  EXPECT_EQ(Ask("GET", "/.well-known/oauth-authorization-server").status, 404);
  Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, expires_at) select "
      "'\\x" +
      base::HexEncode(base::Sha256("vd_at_" + std::string(43, 'b'))) +
      "', gen_random_uuid(), 1, org_id, id, now() + interval '1 hour' from oauth_client");
  EXPECT_EQ(Ask("GET", "/credits", Bearer("vd_at_" + std::string(43, 'b'))).status, 401);
  EXPECT_EQ(Ask("GET", "/credits", Bearer(NewSession("ada"))).status, 200);
}

class ApiTokenLimits : public ApiCredentials {
 public:
  ApiTokenLimits()
      : ApiCredentials({{"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "100000"}}, [](config::Config& c) {
          c.oauth.tokens_per_client_max = 2;
          c.oauth.keys_per_client_max = 2;
          c.oauth.clients_per_org_max = 1;
        }) {}
};

TEST_F(ApiTokenLimits, OfTokensKeysAndClientsHold) {
  const Client client = NewClient();
  NewToken(client);
  NewToken(client);
  const std::string third = Assertion(client);
  const Reply reply = AskToken(third);
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.error(), "too_many_tokens");
  EXPECT_EQ(reply.Header("Retry-After"), "60");
  Sql("delete from access_token");
  EXPECT_EQ(AskToken(third).status, 200) << "what got no token may be sent again";
  EXPECT_EQ(Ask("POST", "/oauth/clients", Json{{"name", "n"}}).error(), "too_many_clients");
  const std::string keys = "/oauth/clients/" + client.id + "/keys";
  const Json second{{"public_key_pem", test::NewKey("P-256").PublicPem()}};
  EXPECT_EQ(Ask("POST", keys, second).status, 200);
  EXPECT_EQ(Ask("POST", keys, second).error(), "too_many_keys");
  // Requests for tokens count for their client.
  EXPECT_EQ(Sql("select sum(requests) from rate_window where api_key_id = '" + client.id + "'"),
            "4");
}

TEST_F(ApiCredentials, AKeyIsTakenOnceAndAPrivateOneIsNamedAsLeaked) {
  const Client client = NewClient();
  const std::string keys = "/oauth/clients/" + client.id + "/keys";
  const std::string pem = test::NewKey("P-256").PublicPem();
  const Reply added = Ask("POST", keys, Json{{"public_key_pem", pem}});
  EXPECT_EQ(added.body["algorithm"], "ES256");
  EXPECT_EQ(added.body["kid"].get<std::string>().size(), 43U) << "the thumbprint";
  EXPECT_EQ(Ask("POST", keys, Json{{"public_key_pem", pem}}).error(), "kid_taken");
  const Reply leaked = Ask("POST", keys, Json{{"public_key_pem", PrivatePem("P-256")}});
  EXPECT_EQ(leaked.error(), "invalid_public_key");
  EXPECT_THAT(leaked.message(), HasSubstr("leaked"));
  EXPECT_EQ(Ask("POST", keys, Json{{"public_key_pem", pem}, {"algorithm", "RS256"}}).error(),
            "invalid_public_key");
  EXPECT_EQ(Ask("GET", keys).body.size(), 2U);
  EXPECT_EQ(Sql("select count(*) from audit where action like 'oauth_client.%' and principal_kind "
                "= 0 and actor like 'key vd_live_%' and org_id is not null"),
            "3");
}

}  // namespace
}  // namespace vedette::test
