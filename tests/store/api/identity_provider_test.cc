// Bearer tokens of the operator's identity provider, on every route (docs/authentication.md).
#include <gmock/gmock.h>

#include <set>

#include "base/crypto.h"
#include "domain/auth/jwt.h"
#include "tests/store/support/allocation_count.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using std::chrono::seconds;
using testing::HasSubstr;

const std::string kProvider = "https://idp.example";
const std::string kAudience = "https://api.example";

domain::SetKey KeyOf(const base::SigningKey& key, const std::string& kid) {
  return {kid, std::nullopt, std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem()))};
}

class ApiProvider : public ApiTest {
 public:
  explicit ApiProvider(const config::Environment& more = {}) : ApiTest(With(more)) {
    Sql("update organisation set external_id = 'tenant-7' where id = '" + acme.org_id + "'");
    provider_keys.Publish({KeyOf(key, "k1")});
    provider_keys.Fetch([] {});
    provider_keys.fetches = 0;
  }

  static config::Environment With(config::Environment environment) {
    environment.emplace("VEDETTE_OIDC_ISSUER", kProvider);
    environment.emplace("VEDETTE_OIDC_AUDIENCE", kAudience);
    environment.emplace("VEDETTE_OIDC_ORG_CLAIM", "/tenant/id");
    return environment;
  }
  std::int64_t Now() const {
    return std::chrono::floor<seconds>(clock.Now()).time_since_epoch().count();
  }
  // A good token of the user, with changes; a claim that is changed to null is taken out.
  std::string Token(const Json& changes = Json::object(), const std::string& kid = "k1",
                    const std::string& typ = "at+jwt") const {
    Json claims{{"iss", kProvider},
                {"aud", kAudience},
                {"sub", "ada"},
                {"exp", Now() + 300},
                {"tenant", {{"id", "tenant-7"}}}};
    for (const auto& [name, value] : changes.items()) {
      claims[name] = value;
      if (value.is_null()) claims.erase(name);
    }
    return Signed(key, {{"alg", "ES256"}, {"kid", kid}, {"typ", typ}}, claims);
  }
  static Headers Bearer(const std::string& token) { return {{"authorization", "Bearer " + token}}; }
  Reply Credits(const std::string& token) { return Ask("GET", "/credits", Bearer(token)); }

  const base::SigningKey key = test::NewKey("P-256");
};

TEST_F(ApiProvider, ATokenIsTakenOnEveryRouteOfTheTableButThoseThatManageClients) {
  const Headers headers = Bearer(Token());
  for (const api::Route* route : CredentialRoutes()) {
    net::ServerRequest request = BareRequest(*route);
    request.headers = headers;
    const Reply reply = AskRaw(std::move(request));
    if (route->access == rest::Access::kManagement) {
      EXPECT_EQ(reply.error(), "credential_not_allowed") << route->pattern;
      continue;
    }
    EXPECT_NE(reply.status, 401) << route->pattern;
    EXPECT_NE(reply.status, 403) << route->pattern << reply.raw.body;
    EXPECT_LT(reply.status, 500) << route->pattern << reply.raw.body;
  }
}

TEST_F(ApiProvider, AnOrganisationIsNamedByItsIdOrByTheNameThatTheProviderHasForIt) {
  EXPECT_EQ(Credits(Token()).status, 200);
  EXPECT_EQ(Credits(Token({{"tenant", {{"id", acme.org_id}}}})).status, 200);
  for (const Json& other :
       {Json(nullptr), Json("tenant-7"), Json{{"id", "tenant-8"}}, Json{{"id", ""}},
        Json{{"id", 7}}, Json{{"id", base::Uuid::V4().ToString()}}}) {
    const Reply reply = Credits(Token({{"tenant", other}}));
    EXPECT_EQ(reply.status, 403) << other;
    EXPECT_EQ(reply.error(), "unknown_organisation");
  }
}

TEST_F(ApiProvider, ARequestIsCheckedInTheOrderOfEveryCredential) {
  Headers headers = Bearer(Token());
  headers.emplace_back("service-forwarded-user", "stranger");
  Sql("update organisation set locked = true, features = '{}'");
  for (const char* error : {"organisation_locked", "unknown_user", "feature_not_enabled"}) {
    for (const api::Route* route : CredentialRoutes()) {
      const bool managed = route->access == rest::Access::kManagement;
      const bool by_feature = error == std::string_view("feature_not_enabled");
      if (by_feature && (route->feature.empty() || managed)) continue;
      if (error == std::string_view("organisation_locked") && route->when_locked) continue;
      net::ServerRequest request = BareRequest(*route);
      request.headers = headers;
      EXPECT_EQ(AskRaw(std::move(request)).error(), error) << route->pattern;
    }
    if (error == std::string_view("organisation_locked")) {
      Sql("update organisation set locked = false");
    } else {
      headers.pop_back();
    }
  }
}

TEST_F(ApiProvider, EveryHostileTokenIsRefusedWithoutADistinctionOnTheWire) {
  const base::SigningKey rsa = test::NewKey("RSA-2048");
  provider_keys.Publish({KeyOf(rsa, "k1"), KeyOf(test::NewKey("RSA-2048", 1), "other-k1")});
  provider_keys.Pass(seconds(30));
  provider_keys.Fetch([] {});
  // What the table calls a client is the issuer here, and its issuer the audience.
  const HostileSetting setting{kProvider, "https://other.example", kAudience, kAudience, Now()};
  const auto with_org = [&](const Json& changes) {
    Json claims = GoodClaims(setting);
    claims["tenant"] = {{"id", "tenant-7"}};
    claims.update(changes);
    return Signed(rsa, {{"alg", "RS256"}, {"kid", "k1"}}, claims);
  };
  ASSERT_EQ(Credits(with_org(Json::object())).status, 200);
  std::vector<HostileToken> hostile = HostileAssertions(setting);
  for (const char* claim : {"nonce", "at_hash", "c_hash"}) {
    hostile.push_back({std::string("an ID token with ") + claim, with_org({{claim, "x"}})});
  }
  hostile.push_back({"an issuer with a slash", with_org({{"iss", kProvider + "/"}})});
  hostile.push_back({"an issuer in capitals", with_org({{"iss", "HTTPS://IDP.EXAMPLE"}})});
  hostile.push_back({"an audience in capitals", with_org({{"aud", "HTTPS://API.EXAMPLE"}})});
  hostile.push_back({"the audience in an object", with_org({{"aud", {{kAudience, true}}}})});
  hostile.push_back({"no audience in the array", with_org({{"aud", Json::array()}})});
  hostile.push_back({"a life that is too long", with_org({{"exp", Now() + 172'800}})});
  hostile.push_back({"a negative exp", with_org({{"exp", -1}})});
  hostile.push_back({"sub of 256 bytes", with_org({{"sub", std::string(256, 's')}})});
  // What an assertion may not do and an access token may: it names no organisation, so that it is
  // verified and then refused for that.
  const std::set<std::string> verified{"typ at+jwt", "sub of another", "two audiences", "no jti"};
  std::set<std::string> bodies;
  int refused = 0;
  for (const HostileToken& token : hostile) {
    const Reply reply = Credits(token.token);
    if (verified.contains(token.name)) {
      EXPECT_EQ(reply.error(), "unknown_organisation") << token.name;
      continue;
    }
    ++refused;
    EXPECT_EQ(reply.status, 401) << token.name << reply.raw.body;
    EXPECT_EQ(reply.error(), "invalid_token") << token.name;
    EXPECT_THAT(reply.Header("WWW-Authenticate"), HasSubstr("error=\"invalid_token\""));
    bodies.insert(reply.raw.body);
  }
  EXPECT_GE(refused, 40);
  EXPECT_EQ(bodies.size(), 1U);
}

TEST_F(ApiProvider, AnUnknownKeyIsFetchedForOnceInThirtySecondsAndThenTaken) {
  EXPECT_EQ(Credits(Token({}, "k2")).status, 401) << "the last fetch is too young";
  EXPECT_EQ(provider_keys.fetches, 0);
  provider_keys.Pass(seconds(30));
  provider_keys.Publish({KeyOf(key, "k1"), KeyOf(key, "k2")});
  EXPECT_EQ(Credits(Token({}, "k2")).status, 200);
  EXPECT_EQ(provider_keys.fetches, 1);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(Credits(Token({}, "unknown-" + std::to_string(i))).status, 401);
  }
  EXPECT_EQ(provider_keys.fetches, 1);
  // What is refused whatever its key is causes none at all.
  provider_keys.Pass(seconds(30));
  EXPECT_EQ(Credits(Token({{"iss", "https://other.example"}}, "k3")).status, 401);
  EXPECT_EQ(Credits(Token({{"exp", Now() - 100}}, "k3")).status, 401);
  EXPECT_EQ(provider_keys.fetches, 1);
}

TEST_F(ApiProvider, TenThousandUnknownKeyIdsInAMinuteCauseAtMostTwoFetches) {
  // Claims and a signature that nobody comes to verify.
  const std::string token = Token();
  const std::string rest = token.substr(token.find('.'));
  constexpr int kRequests = OrLessIfSanitized(10'000, 1'000);
  int refused = 0;
  for (int i = 0; i < kRequests; ++i) {
    if (i % (kRequests / 2) == 0) provider_keys.Pass(seconds(30));
    const Json header{{"alg", "ES256"}, {"kid", "unknown-" + std::to_string(i)}};
    refused += Credits(base::Base64UrlEncode(header.dump()) + rest).status == 401 ? 1 : 0;
  }
  EXPECT_EQ(refused, kRequests);
  EXPECT_EQ(provider_keys.fetches, 2);
  EXPECT_EQ(Sql("select count(*) from rate_window"), "0") << "a stranger uses up nobody's minute";
}

TEST_F(ApiProvider, WithoutKeysItIs503AndEveryOtherCredentialGoesOn) {
  const std::string token = Token();
  provider_keys.published.reset();
  provider_keys.Pass(std::chrono::hours(24));
  EXPECT_EQ(Credits(token).status, 200) << "old keys serve for a day";
  provider_keys.Pass(seconds(1));
  const Reply reply = Credits(token);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "unavailable");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  EXPECT_EQ(reply.Header("WWW-Authenticate"), "");
  EXPECT_EQ(Sql("select coalesce(sum(requests), 0) from rate_window where api_key_id = '" +
                domain::ExternalPrincipal(kProvider, "ada").ToString() + "'"),
            "1")
      << "what was not let in is not counted";
  EXPECT_EQ(Ask("GET", "/credits").status, 200);
}

TEST_F(ApiProvider, ATokenBelongsInAuthorizationAlone) {
  const Reply as_key = Ask("GET", "/credits", Headers{{"x-api-key", Token()}});
  EXPECT_EQ(as_key.error(), "unauthorized");
  Headers both = Bearer(Token());
  both.emplace_back("x-api-key", acme.key);
  EXPECT_EQ(Ask("GET", "/credits", both).error(), "ambiguous_credentials");
}

TEST_F(ApiProvider, AJobAndItsForwardedUserAreRecorded) {
  Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'bob')");
  Headers headers = Bearer(Token());
  headers.emplace_back("service-forwarded-user", "bob");
  const Json lead{{"lead", {{"personal_email", "ada@home.example"}}}, {"mode", "PERSONAL"}};
  EXPECT_LT(Ask("POST", "/find-email-async", lead, headers).status, 300);
  EXPECT_EQ(Sql("select on_behalf_of || caller_kind || caller_id from job"),
            "bob3" + domain::ExternalPrincipal(kProvider, "ada").ToString());
}

class ApiProviderOfTeams : public ApiProvider {
 public:
  ApiProviderOfTeams()
      : ApiProvider(
            {{"VEDETTE_OIDC_TEAM_CLAIM", "team"}, {"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "3"}}) {}
};

TEST_F(ApiProviderOfTeams, ATokenIsLimitedToTheTeamThatItNames) {
  const std::string team = NewTeam(acme.org_id);
  EXPECT_EQ(Credits(Token({{"team", team}})).body["team"]["id"], team);
  const std::string foreign = NewTeam(NewTenant("other").org_id);
  for (const std::string& other : {foreign, base::Uuid::V4().ToString(), std::string("team")}) {
    EXPECT_EQ(Credits(Token({{"team", other}})).error(), "unknown_organisation") << other;
  }
  EXPECT_EQ(Credits(Token()).error(), "invalid_token") << "the claim is missing";
}

TEST_F(ApiProviderOfTeams, AllTokensOfASubjectShareOneLimit) {
  const std::string team = NewTeam(acme.org_id);
  // Three a minute of the clock: where another begins meanwhile, six at most fall into both.
  std::vector<int> answers;
  do {
    const std::string jti = std::to_string(answers.size());
    answers.push_back(Credits(Token({{"team", team}, {"jti", jti}})).status);
  } while (answers.back() == 200 && answers.size() <= 6);
  EXPECT_EQ(answers.back(), 429);
  EXPECT_GE(answers.size(), 4U);
  const Reply other = Credits(Token({{"team", team}, {"sub", "bob"}}));
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.Header("X-RateLimit-Remaining"), "2");
}

class ApiProviderOfOne : public ApiTest {
 public:
  ApiProviderOfOne()
      : ApiTest({{"VEDETTE_OIDC_ISSUER", kProvider},
                 {"VEDETTE_OIDC_AUDIENCE", kAudience},
                 {"VEDETTE_OIDC_ALGORITHMS", "ES256"},
                 {"VEDETTE_OIDC_ORGANISATION", "6f1c2b9e-0000-4000-8000-000000000001"}}) {}
};

TEST_F(ApiProviderOfOne, EveryTokenIsOfTheOneOrganisationWhateverItSays) {
  Sql("insert into organisation (id, name, features) values "
      "('6f1c2b9e-0000-4000-8000-000000000001', 'the one', '{}')");
  Sql("insert into account (org_id) values ('6f1c2b9e-0000-4000-8000-000000000001')");
  provider_keys.Publish({KeyOf(test::NewKey("P-256"), "a"), KeyOf(test::NewKey("RSA-2048"), "b")});
  const auto ask = [&](const char* type, const char* alg) {
    const auto now = std::chrono::floor<seconds>(clock.Now()).time_since_epoch().count();
    const std::string token = Signed(test::NewKey(type), {{"alg", alg}},
                                     {{"iss", kProvider},
                                      {"aud", kAudience},
                                      {"sub", "ada"},
                                      {"exp", now + 60},
                                      {"org", acme.org_id}});
    return Ask("GET", "/credits", Headers{{"authorization", "Bearer " + token}}).status;
  };
  EXPECT_EQ(ask("P-256", "ES256"), 200) << "the first token waits for the first fetch";
  EXPECT_EQ(ask("RSA-2048", "RS256"), 401) << "the algorithm is not configured";
}

}  // namespace
}  // namespace vedette::test
