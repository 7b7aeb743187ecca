// Operators sign in at the console by the identity provider of [admin.oidc], with a claim for the
// role.
#include <gmock/gmock.h>

#include "api/operator/handlers.h"
#include "base/crypto.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "tests/store/support/operator_support.h"
#include "tests/store/support/provider_keys.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

const std::string kIssuer = "https://idp.example";

class ConsoleSignIn : public AdminTest {
 public:
  ConsoleSignIn() {
    config.admin_oidc = {.issuer = kIssuer,
                         .client_id = "console",
                         .client_secret = "a secret",
                         .public_url = "https://admin.example",
                         .scope = "openid email groups",
                         .role_claim = "groups",
                         .viewers = {"staff"},
                         .operators = {"on call"},
                         .admins = {"owners", "root"}};
    provider_keys.Publish({{"k1", std::nullopt,
                            std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem()))}});
    provider_keys.Fetch([] {});
    provider_keys.OfferSignIn();
  }

  Reply Send(const std::string& method, const std::string& target, const Headers& headers = {},
             const std::string& body = "") {
    net::ServerRequest request = Request(method, target, headers);
    if (!body.empty()) request.headers.emplace_back("content-type", "application/json");
    request.body = body;
    return AskRaw(std::move(request), port);
  }

  // What a header says that begins with `begin`; of Set-Cookie there may be several.
  static std::string Header(const Reply& reply, const std::string& name,
                            const std::string& begin = "") {
    for (const auto& [one, value] : reply.raw.headers) {
      if (one == name && value.starts_with(begin)) return value;
    }
    return "";
  }
  static std::string Place(const Reply& reply) { return Header(reply, "Location"); }

  struct Begun {
    std::string cookie;
    std::string state;
    std::string nonce;
  };
  Begun Begin() {
    const Reply begun = Send("POST", "/console/sign-in", {{"sec-fetch-site", "same-origin"}});
    const std::string url = begun.body["url"].is_null() ? "" : begun.body["url"];
    const auto part = [&url](const std::string& name) {
      const auto at = url.find("&" + name + "=") + name.size() + 2;
      return url.substr(at, url.find('&', at) - at);
    };
    EXPECT_THAT(url, HasSubstr("redirect_uri=https%3A%2F%2Fadmin.example%2Fconsole%2Fcallback"));
    EXPECT_EQ(part("scope"), "openid%20email%20groups");
    const std::string cookie = Header(begun, "Set-Cookie");
    EXPECT_THAT(cookie, HasSubstr("; HttpOnly; Secure; SameSite=Lax"));
    return {cookie.substr(0, cookie.find(';')), part("state"), part("nonce")};
  }
  // The provider sends the browser back; for its code there is a token with these claims.
  Reply Return(const Begun& begun, const Json& changes = Json::object()) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch();
    Json claims{{"iss", kIssuer},         {"aud", "console"},
                {"sub", "00u7"},          {"exp", now.count() + 300},
                {"nonce", begun.nonce},   {"email", "Ada@example.com"},
                {"email_verified", true}, {"groups", Json::array({"everybody", "staff"})}};
    for (const auto& [name, value] : changes.items()) claims[name] = value;
    provider_keys.answer =
        Json{{"id_token", Signed(key, {{"alg", "ES256"}, {"kid", "k1"}}, claims)}}.dump();
    return Send("GET", "/console/callback?code=abc&state=" + begun.state,
                {{"cookie", begun.cookie}, {"sec-fetch-site", "cross-site"}});
  }
  static Headers CookieOf(const Reply& signed_in) {
    const std::string cookie = Header(signed_in, "Set-Cookie", "__Host-vedette-console=");
    return {{"cookie", cookie.substr(0, cookie.find(';'))}};
  }
  Headers SignIn(const Json& groups = Json::array({"staff"})) {
    const Reply back = Return(Begin(), {{"groups", groups}});
    EXPECT_EQ(Place(back), "/") << back.raw.body;
    return CookieOf(back);
  }
  Headers Changes(Headers cookie) {
    const Reply me = Send("GET", "/admin/v1/me", cookie);
    cookie.emplace_back("x-csrf-token", me.body["csrf_token"].get<std::string>());
    return cookie;
  }

  const base::SigningKey key = test::NewKey("P-256");
  FakeProviderKeys provider_keys;
  admin::Admin port{config, pool,        signals, clock,   metrics,       state,
                    fields, key_fetcher, log,     nullptr, &provider_keys};
};

TEST_F(ConsoleSignIn, ALetsInWhoHasARoleByItsSessionAlone) {
  const Reply back = Return(Begin());
  EXPECT_EQ(back.status, 303);
  EXPECT_EQ(Place(back), "/");
  EXPECT_THAT(Header(back, "Set-Cookie", "__Host-vedette-console="),
              HasSubstr("; Path=/; Max-Age=36000; HttpOnly; Secure; SameSite=Strict"));
  EXPECT_EQ(Header(back, "Referrer-Policy"), "no-referrer");
  const Headers cookie = CookieOf(back);
  const Json me = Send("GET", "/admin/v1/me", cookie).body;
  EXPECT_EQ(me["name"], "ada@example.com");
  EXPECT_EQ(me["role"], "viewer");
  EXPECT_EQ(Send("GET", "/admin/v1/overview", cookie).status, 200);
  EXPECT_EQ(Send("GET", "/console/sign-in", cookie).body,
            (Json{{"provider", "idp.example"}, {"session", true}}));
  // The token itself is not stored.
  EXPECT_EQ(Sql("select count(*) from console_session where token_sha256 = sha256('" +
                cookie[0].second.substr(cookie[0].second.find('=') + 1) + "')"),
            "1");
  EXPECT_EQ(Sql("select actor || ' ' || action || ' ' || (detail->>'subject') || ' ' || "
                "(detail->>'role') from audit"),
            "ada@example.com console.sign_in 00u7 viewer");
}

TEST_F(ConsoleSignIn, TheHighestRoleOfTheClaimCounts) {
  const auto role = [&](const Json& groups) -> Json {
    return Send("GET", "/admin/v1/me", SignIn(groups)).body["role"];
  };
  EXPECT_EQ(role("staff"), "viewer") << "a text stands for a list of one";
  EXPECT_EQ(role(Json::array({"staff", "on call"})), "operator");
  EXPECT_EQ(role(Json::array({"root", "staff", 7, nullptr, "on call"})), "admin");
  EXPECT_EQ(Sql("select role_values::text from console_session order by id desc limit 1"),
            "{root,staff,\"on call\"}");
}

TEST_F(ConsoleSignIn, WhoHasNoRoleIsRefusedWithAPageThatSaysSo) {
  for (const Json& groups : {Json::array(), Json::array({"Staff"}), Json(nullptr), Json(""),
                             Json{{"staff", true}}, Json::array({Json::array({"staff"})})}) {
    const Reply back = Return(Begin(), {{"groups", groups}});
    EXPECT_EQ(Place(back), "/#/sorry/no_role") << groups;
    EXPECT_EQ(CookieOf(back)[0].second, "") << groups;
  }
  EXPECT_EQ(Sql("select count(*) from console_session"), "0");
}

TEST_F(ConsoleSignIn, AnAnswerCountsOnceAndInTheBrowserThatAsked) {
  const Begun begun = Begin();
  const Begun other = Begin();
  EXPECT_EQ(Place(Return({other.cookie, begun.state, begun.nonce})), "/#/sorry/expired");
  EXPECT_EQ(Place(Return({"", begun.state, begun.nonce})), "/#/sorry/expired");
  EXPECT_EQ(Place(Return({begun.cookie, begun.state, other.nonce})), "/#/sorry/refused");
  EXPECT_EQ(Place(Return(begun)), "/#/sorry/expired") << "it was tried";
  const Begun late = Begin();
  Sql("update one_time_secret set expires_at = now() returning 1");
  EXPECT_EQ(Place(Return(late)), "/#/sorry/expired");
  // That of a sign-in at the dashboard is none here.
  const Begun mixed = Begin();
  Sql("update one_time_secret set purpose = 2 returning 1");
  EXPECT_EQ(Place(Return(mixed)), "/#/sorry/expired");
  EXPECT_EQ(Sql("select count(*) from console_session"), "0");
}

TEST_F(ConsoleSignIn, EachClaimThatIsNotAsItShouldBeIsRefused) {
  for (const Json& wrong :
       {Json{{"aud", "dashboard"}}, Json{{"aud", Json::array({"console", "another"})}},
        Json{{"azp", "another"}}, Json{{"iss", "https://evil.example"}}, Json{{"exp", 1}},
        Json{{"email_verified", false}}, Json{{"email", nullptr}}, Json{{"sub", nullptr}},
        Json{{"sub", ""}}}) {
    EXPECT_EQ(Place(Return(Begin(), wrong)), "/#/sorry/refused") << wrong;
  }
  EXPECT_EQ(Sql("select count(*) from console_session"), "0");
}

TEST_F(ConsoleSignIn, AChangeWithTheCookieAloneIsRefusedAndOneOfThePageIsAudited) {
  const Headers cookie = SignIn("root");
  const Headers changes = Changes(cookie);
  const std::string body = R"({"name":"Acme","features":["monitors"]})";
  for (Headers headers :
       {cookie, Headers{cookie[0], {"x-csrf-token", ""}}, Headers{cookie[0], {"x-csrf-token", "x"}},
        Headers{cookie[0], {"sec-fetch-site", "cross-site"}, {"origin", "https://evil.example"}},
        Headers{cookie[0], {"x-csrf-token", Changes(SignIn("root"))[1].second}}}) {
    const Reply refused = Send("POST", "/admin/v1/orgs", headers, body);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.body["error"], "csrf_token_missing");
  }
  EXPECT_EQ(Send("POST", "/admin/v1/orgs", {changes[1]}, body).status, 401) << "no cookie";
  EXPECT_EQ(Sql("select count(*) from organisation"), "0");
  EXPECT_EQ(Send("POST", "/admin/v1/orgs", changes, body).status, 201);
  EXPECT_EQ(Sql("select actor from audit where action = 'org.create'"), "ada@example.com");
}

TEST_F(ConsoleSignIn, ARoleMayDoWhatItMayWithAToken) {
  const Headers viewer = Changes(SignIn("staff"));
  const Headers on_call = Changes(SignIn("on call"));
  int refused = 0;
  for (const admin::Route& route : admin::Routes()) {
    if (route.access != rest::Access::kCredential || route.role == admin::Role::kViewer) continue;
    std::string path(route.pattern);
    for (auto at = path.find("{id}"); at != std::string::npos; at = path.find("{id}", at)) {
      path.replace(at, 4, base::Uuid::V4().ToString());
    }
    for (const auto& [headers, role] :
         {std::pair(&viewer, admin::Role::kViewer), std::pair(&on_call, admin::Role::kOperator)}) {
      if (role >= route.role) continue;
      const Reply reply = Send(std::string(route.method), path, *headers, "{}");
      EXPECT_EQ(reply.status, 403) << route.pattern;
      EXPECT_EQ(reply.body["error"], "insufficient_role") << route.pattern;
      ++refused;
    }
  }
  EXPECT_GT(refused, 70);
  EXPECT_EQ(Send("POST", "/admin/v1/drain", on_call, R"({"reason":"r"})").status, 202);
  EXPECT_EQ(Send("GET", "/admin/v1/audit?follow=true", viewer).status, 403)
      << "it would outlive the session";
}

TEST_F(ConsoleSignIn, ASignOutEndsTheSessionAndNeedsThePage) {
  const Headers cookie = SignIn();
  EXPECT_EQ(Send("POST", "/console/sign-out", cookie).status, 403);
  EXPECT_EQ(Send("GET", "/admin/v1/me", cookie).status, 200);
  const Reply out = Send("POST", "/console/sign-out", Changes(cookie));
  EXPECT_EQ(out.status, 200);
  EXPECT_THAT(Header(out, "Set-Cookie"), HasSubstr("__Host-vedette-console=; Path=/; Max-Age=0"));
  EXPECT_EQ(Send("GET", "/admin/v1/me", cookie).status, 401);
  EXPECT_EQ(Sql("select string_agg(action || ' ' || actor, ', ' order by at, id) from audit"),
            "console.sign_in ada@example.com, console.sign_out ada@example.com");
}

TEST_F(ConsoleSignIn, ASessionEndsByTimeByAnAdminAndWithTheRoleOfItsValues) {
  const Headers old = SignIn();
  Sql("update console_session set expires_at = now() returning 1");
  EXPECT_EQ(Send("GET", "/admin/v1/me", old).status, 401);

  const Headers viewer = SignIn();
  const Json listed = Send("GET", "/admin/v1/console/sessions", viewer).body["items"];
  ASSERT_EQ(listed.size(), 1U) << listed;
  EXPECT_EQ(listed[0]["name"], "ada@example.com");
  EXPECT_EQ(listed[0]["role"], "viewer");
  EXPECT_EQ(listed[0]["current"], true);
  const std::string path = "/admin/v1/console/sessions/" + listed[0]["id"].get<std::string>();
  EXPECT_EQ(Send("DELETE", path, Changes(viewer)).status, 403);
  const Headers admin_token{{"authorization", std::string("Bearer ") + kToken}};
  EXPECT_EQ(Send("DELETE", path, admin_token, R"({"reason":"she has left"})").status, 204);
  EXPECT_EQ(Send("DELETE", path, admin_token).status, 404);
  EXPECT_EQ(Send("GET", "/admin/v1/me", viewer).status, 401);

  const Headers both = SignIn(Json::array({"staff", "root"}));
  config.admin_oidc.admins = {"owners"};
  EXPECT_EQ(Send("GET", "/admin/v1/me", both).body["role"], "viewer");
  config.admin_oidc.viewers = {"somebody"};
  EXPECT_EQ(Send("GET", "/admin/v1/me", both).status, 401);
  config.admin_oidc.viewers = {"staff"};
  config.admin_oidc.issuer = "https://other.example";
  EXPECT_EQ(Send("GET", "/admin/v1/me", both).status, 401);
}

TEST_F(ConsoleSignIn, EachSignInHasASessionOfItsOwnWhateverTheBrowserBrings) {
  const Begun begun = Begin();
  const std::string planted = "__Host-vedette-console=vd_con_" + std::string(43, 'a');
  const Reply back = Return({begun.cookie + "; " + planted, begun.state, begun.nonce});
  EXPECT_EQ(Place(back), "/");
  EXPECT_NE(CookieOf(back)[0].second, planted);
  EXPECT_EQ(Send("GET", "/admin/v1/me", {{"cookie", planted}}).status, 401);
  EXPECT_NE(SignIn()[0].second, SignIn()[0].second);
}

TEST_F(ConsoleSignIn, ABearerTokenCountsBeforeACookieAndAWrongOneIsNotMadeGoodByIt) {
  Headers headers = SignIn();
  headers.emplace_back("authorization", std::string("Bearer ") + kToken);
  EXPECT_EQ(Send("GET", "/admin/v1/me", headers).body,
            (Json{{"name", "default"}, {"role", "admin"}}));
  EXPECT_EQ(Send("POST", "/admin/v1/orgs", headers, R"({"name":"Acme"})").status, 201);
  headers.back().second = "Bearer another";
  EXPECT_EQ(Send("GET", "/admin/v1/me", headers).status, 401);
}

TEST_F(ConsoleSignIn, AnotherSitesPageBeginsNoSignInAndTriesAreCounted) {
  EXPECT_EQ(Send("POST", "/console/sign-in", {{"sec-fetch-site", "cross-site"}}).status, 403);
  int status = 200;
  // Sixty a minute of the clock: where another begins meanwhile, more fall into both.
  for (int i = 0; i < 125 && status == 200; ++i) status = Send("POST", "/console/sign-in").status;
  EXPECT_EQ(status, 429);
}

TEST_F(ConsoleSignIn, WhereNoProviderIsConfiguredNothingIsOffered) {
  const Headers cookie = SignIn("root");
  const auto without = [&](const std::string& method, const std::string& path) {
    net::ServerRequest request;
    request.method = method;
    request.target = request.path = path;
    request.headers = cookie;
    return AskRaw(std::move(request));
  };
  EXPECT_EQ(without("GET", "/console/sign-in").body,
            (Json{{"provider", nullptr}, {"session", false}}));
  EXPECT_EQ(without("POST", "/console/sign-in").status, 404);
  EXPECT_EQ(without("GET", "/console/callback").status, 404);
  EXPECT_EQ(without("GET", "/admin/v1/me").status, 401);
}

}  // namespace
}  // namespace vedette::test
