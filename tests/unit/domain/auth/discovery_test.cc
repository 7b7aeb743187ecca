#include "base/json.h"
#include "domain/auth/jwk_set.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

using base::Json;

const std::string kIssuer = "https://idp.example/tenant/";

Json Good() {
  return {{"issuer", kIssuer}, {"jwks_uri", "https://idp.example/keys"}, {"more", {1, 2}}};
}

bool Refused(const std::string& text, const std::string& issuer = kIssuer) {
  return std::holds_alternative<JwtFault>(ReadDiscovery(text, issuer));
}

TEST(Discovery, TheDocumentStandsBelowTheIssuerWhateverItsLastSlash) {
  EXPECT_EQ(DiscoveryUrl("https://a.example"),
            "https://a.example/.well-known/openid-configuration");
  EXPECT_EQ(DiscoveryUrl("https://a.example/t/"),
            "https://a.example/t/.well-known/openid-configuration");
}

TEST(Discovery, NamesTheUrlOfTheKeysWhereTheIssuerIsTheConfiguredOne) {
  EXPECT_EQ(std::get<std::string>(ReadDiscovery(Good().dump(), kIssuer)),
            "https://idp.example/keys");
  Json other = Good();
  for (const Json& issuer :
       {Json("https://idp.example/tenant"), Json("HTTPS://idp.example/tenant/"),
        Json("https://evil.example/"), Json(nullptr), Json(1)}) {
    other["issuer"] = issuer;
    EXPECT_TRUE(Refused(other.dump())) << issuer;
  }
}

TEST(Discovery, KeysComeOverHttpsUnlessTheIssuerItselfIsPlain) {
  Json document = Good();
  for (const Json& url : {Json("http://idp.example/keys"), Json("file:///etc/passwd"), Json(""),
                          Json(nullptr), Json("https://" + std::string(3000, 'a'))}) {
    document["jwks_uri"] = url;
    EXPECT_TRUE(Refused(document.dump())) << url;
  }
  const std::string local = "http://127.0.0.1:9";
  EXPECT_EQ(std::get<std::string>(ReadDiscovery(
                Json{{"issuer", local}, {"jwks_uri", local + "/jwks"}}.dump(), local)),
            local + "/jwks");
}

TEST(Discovery, WhatIsNoDocumentIsRefused) {
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("<html>"),
        R"({"issuer":")" + kIssuer + R"(","issuer":"x","jwks_uri":"https://x"})",
        std::string(100, '[')}) {
    EXPECT_TRUE(Refused(bad)) << bad;
  }
}

}  // namespace
}  // namespace vedette::domain
