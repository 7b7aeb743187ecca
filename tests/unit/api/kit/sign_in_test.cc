#include "api/kit/sign_in.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/auth_config.h"
#include "tests/support/jose.h"

namespace vedette::rest {
namespace {

net::ServerRequest With(const std::string& method,
                        std::vector<std::pair<std::string, std::string>> headers) {
  net::ServerRequest request;
  request.method = method;
  request.headers = std::move(headers);
  return request;
}

TEST(Cookies, OneIsFoundByItsWholeNameAndTwoAreNone) {
  const auto found = [](const std::string& text) {
    return std::string(CookieOf(With("GET", {{"cookie", text}}), "__Host-a"));
  };
  EXPECT_EQ(found("__Host-a=1"), "1");
  EXPECT_EQ(found("b=2;  __Host-a=1; c=3"), "1");
  for (const char* none : {"", "a=1", "__Host-ab=1", "__Host-a", "__Host-a=1; __Host-a=2"}) {
    EXPECT_EQ(found(none), "") << none;
  }
  EXPECT_EQ(SetCookie("__Host-a", "1", std::chrono::seconds(5)).second,
            "__Host-a=1; Path=/; Max-Age=5; HttpOnly; Secure; SameSite=Strict");
}

TEST(Csrf, AChangeShowsWhatIsMadeFromTheSessionAndReadingNeedsNothing) {
  const std::string token = "vd_con_x";
  EXPECT_NE(CsrfTokenOf(token), CsrfTokenOf("vd_con_y"));
  EXPECT_TRUE(IsOfOwnPage(With("GET", {}), token));
  for (const char* method : {"POST", "DELETE", "PATCH", "PUT"}) {
    EXPECT_FALSE(IsOfOwnPage(With(method, {}), token)) << method;
    EXPECT_FALSE(IsOfOwnPage(With(method, {{"x-csrf-token", token}}), token));
    EXPECT_FALSE(IsOfOwnPage(With(method, {{"x-csrf-token", CsrfTokenOf("vd_con_y")}}), token));
    EXPECT_TRUE(IsOfOwnPage(With(method, {{"x-csrf-token", CsrfTokenOf(token)}}), token));
  }
}

TEST(SameSite, AnotherSitesPageBeginsNoSignIn) {
  for (const char* from : {"cross-site", "same-site"}) {
    try {
      CheckSameSite(With("POST", {{"sec-fetch-site", from}}), "the console");
      ADD_FAILURE() << from;
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.reply().status, 403);
      EXPECT_NE(refusal.reply().body.find("the console signs in"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(CheckSameSite(With("POST", {{"sec-fetch-site", "same-origin"}}), "it"));
  EXPECT_NO_THROW(CheckSameSite(With("POST", {}), "it")) << "a script is no browser";
}

TEST(Provider, IsCalledByItsHost) {
  EXPECT_EQ(ProviderName("https://idp.example"), "idp.example");
  EXPECT_EQ(ProviderName("http://127.0.0.1:9/realms/a"), "127.0.0.1:9");
}

TEST(Redeemed, WhatIsNoAnswerIsRefusedAndWhatDidNotComeIsTheProvidersFault) {
  SignInAnswer answer;
  EXPECT_EQ(ReadRedeemed({"", "it timed out"}, &answer)->what, kUnavailable);
  EXPECT_EQ(ReadRedeemed({"<html>", ""}, &answer)->what, kRefused);
  EXPECT_FALSE(ReadRedeemed({R"({"id_token":"a.b.c"})", ""}, &answer));
  EXPECT_EQ(answer.id_token, "a.b.c");
  EXPECT_FALSE(ReadRedeemed({"{}", ""}, &answer));
  EXPECT_EQ(answer.id_token, "") << "which is no token, and refused as such";
}

TEST(Keys, ATokenWaitsForThemWhereItsOwnIsUnknownAndIsRefusedWhereTheyAreFresh) {
  using std::chrono::minutes;
  const base::SigningKey key = vedette::test::NewKey("P-256");
  const auto jwt = std::get<domain::Jwt>(
      domain::ParseJwt(vedette::test::Signed(key, {{"alg", "ES256"}}, {{"sub", "ada"}})));
  const config::JwksConfig jwks{
      .fresh_ms = minutes(10), .retry_ms = minutes(1), .stale_max_ms = minutes(60)};
  ProviderKeys::View view{nullptr, {}, base::Timestamp(std::chrono::hours(5))};
  EXPECT_EQ(std::get<KeysWanted>(VerifyByProvider(jwt, jwks, view)), KeysWanted::kFetch);
  view.cache.tried_at = view.now;
  EXPECT_EQ(std::get<KeysWanted>(VerifyByProvider(jwt, jwks, view)), KeysWanted::kNone);
  view.keys = std::make_shared<const std::vector<domain::SetKey>>();
  view.cache = {.has_keys = true, .fetched_at = view.now, .tried_at = view.now};
  EXPECT_TRUE(std::holds_alternative<domain::JwtFault>(VerifyByProvider(jwt, jwks, view)));
  view.keys = std::make_shared<const std::vector<domain::SetKey>>(std::vector<domain::SetKey>{
      {std::nullopt, std::nullopt,
       std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem()))}});
  EXPECT_TRUE(std::holds_alternative<std::monostate>(VerifyByProvider(jwt, jwks, view)));
}

}  // namespace
}  // namespace vedette::rest
