#pragma once

#include <string>

#include "base/crypto.h"
#include "domain/auth/principal.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {

// The API with OAuth clients, their assertions and tokens, and sessions of users.
class ApiCredentials : public ApiTest {
 public:
  inline static const std::string kIssuer = "https://api.example.com";
  inline static const std::string kAssertionType =
      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

  explicit ApiCredentials(const config::Environment& more = {}, const Adjust& adjust = nullptr)
      : ApiTest(With(more), adjust) {}

  static config::Environment With(config::Environment environment) {
    environment.emplace("VEDETTE_API_PUBLIC_URL", kIssuer);
    return environment;
  }

  Reply AskRoute(const api::Route& route, const Headers& headers) {
    net::ServerRequest request = BareRequest(route);
    request.headers = headers;
    return AskRaw(std::move(request));
  }
  static Headers Bearer(const std::string& token) { return {{"authorization", "Bearer " + token}}; }

  // A session of acme's user, as the admin port makes one.
  std::string NewSession(const std::string& user, const std::string& team = "") {
    const std::string token = "vd_ses_" + base::RandomBase62(43);
    const base::Uuid org = *base::Uuid::Parse(acme.org_id);
    Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', '" + user +
        "') on conflict do nothing");
    Sql("insert into access_token (token_sha256, id, kind, org_id, team_id, principal_id, user_id, "
        "expires_at) values ('\\x" +
        base::HexEncode(base::Sha256(token)) + "', gen_random_uuid(), 2, '" + acme.org_id + "', " +
        (team.empty() ? "null" : "'" + team + "'") + ", '" +
        domain::UserPrincipal(org, user).ToString() + "', '" + user +
        "', now() + interval '1 hour')");
    return token;
  }

  struct Client {
    std::string id;
    base::SigningKey key;
  };
  Client NewClient(const std::string& type = "RSA-2048", int which = 0) {
    const std::string id =
        Ask("POST", "/oauth/clients", base::Json{{"name", "billing"}}).body["id"];
    Client client{id, test::NewKey(type, which)};
    const Reply added = Ask("POST", "/oauth/clients/" + id + "/keys",
                            base::Json{{"public_key_pem", client.key.PublicPem()}, {"kid", "k1"}});
    EXPECT_EQ(added.status, 200) << added.raw.body;
    return client;
  }
  std::int64_t Now() const {
    return std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch().count();
  }
  std::string Assertion(const Client& client,
                        const base::Json& changes = base::Json::object()) const {
    base::Json claims{{"iss", client.id},
                      {"sub", client.id},
                      {"aud", kIssuer},
                      {"exp", Now() + 60},
                      {"jti", base::RandomBase62(20)}};
    claims.update(changes);
    const auto alg = base::SignatureAlgorithmName(client.key.DefaultAlgorithm());
    return Signed(client.key, {{"alg", alg}, {"kid", "k1"}}, claims);
  }
  Reply PostForm(const std::string& path, const std::string& body,
                 const std::string& type = "application/x-www-form-urlencoded") {
    net::ServerRequest request;
    request.method = "POST";
    request.path = request.target = path;
    request.headers = {{"content-type", type}};
    request.body = body;
    return AskRaw(std::move(request));
  }
  static std::string Escape(const std::string& text) {
    std::string escaped;
    for (const char c : text) escaped += "%" + base::HexEncode(std::string(1, c));
    return escaped;
  }
  static std::string Form(const std::string& assertion, const std::string& more) {
    return "client_assertion_type=" + Escape(kAssertionType) +
           "&client_assertion=" + Escape(assertion) + "&" + more;
  }
  Reply AskToken(const std::string& assertion, const std::string& more = "") {
    return PostForm("/oauth/token", Form(assertion, "grant_type=client_credentials" + more));
  }
  std::string NewToken(const Client& client) {
    const Reply reply = AskToken(Assertion(client));
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body["access_token"];
  }
};

}  // namespace vedette::test
