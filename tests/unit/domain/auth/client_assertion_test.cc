#include "domain/auth/jwt.h"

#include <gtest/gtest.h>

#include <set>

#include "domain/auth/jwk_set.h"
#include "tests/support/jose.h"

namespace vedette::domain {
namespace {

using base::Json;
using std::chrono::seconds;

constexpr std::int64_t kNow = 1'800'000'000;

test::HostileSetting Setting() {
  return {.client = "01890000-0000-7000-8000-000000000001",
          .other = "01890000-0000-7000-8000-000000000002",
          .issuer = "https://api.example.com",
          .endpoint = "https://api.example.com/oauth/token",
          .now = kNow};
}

// Validates a token as the endpoint does, with the one key that the client has registered. Empty
// for a token that is taken, else the reason.
std::string Validate(const std::string& token, const std::string& type = "RSA-2048") {
  const auto parsed = ParseJwt(token);
  if (const auto* fault = std::get_if<JwtFault>(&parsed)) return fault->reason;
  const Jwt& jwt = std::get<Jwt>(parsed);
  const auto setting = Setting();
  const auto client = ClaimedClient(jwt);
  if (!client || client->ToString() != setting.client) return "another client";
  const std::vector<SetKey> keys{
      {"k1", std::nullopt,
       std::get<base::PublicKey>(base::PublicKey::FromPem(test::NewKey(type).PublicPem()))}};
  if (!VerifiedByOne(keys, jwt)) return "no key verifies the signature";
  const AssertionRules rules{
      setting.issuer, setting.endpoint, {.lifetime_max = seconds(3600), .skew = seconds(60)}};
  const auto validated =
      ValidateAssertion(jwt, *client, rules, base::Timestamp(std::chrono::seconds(kNow)));
  const auto* fault = std::get_if<JwtFault>(&validated);
  return fault == nullptr ? "" : fault->reason;
}

std::string ValidateClaims(const Json& changes, const char* typ = "JWT") {
  Json claims = test::GoodClaims(Setting());
  claims.update(changes);
  return Validate(test::Signed(test::NewKey("RSA-2048"),
                               {{"alg", "RS256"}, {"kid", "k1"}, {"typ", typ}}, claims));
}

TEST(ClientAssertion, EveryHostileOneIsRefusedWithItsReasonAndTheGoodOneIsTaken) {
  EXPECT_EQ(Validate(test::GoodAssertion(Setting())), "");
  const auto hostile = test::HostileAssertions(Setting());
  std::set<std::string> names;
  for (const test::HostileToken& token : hostile) {
    names.insert(token.name);
    EXPECT_NE(Validate(token.token), "") << token.name;
  }
  EXPECT_GE(names.size(), 64U);
}

TEST(ClientAssertion, AHostileSignatureIsRefusedForAKeyOfItsOwnAlgorithmToo) {
  for (const char* type : {"P-256", "Ed25519"}) {
    for (const test::HostileToken& token : test::HostileAssertions(Setting())) {
      EXPECT_NE(Validate(token.token, type), "") << type << " " << token.name;
    }
  }
}

TEST(ClientAssertion, EachKeyTypeSignsOneThatIsTakenWithAKidAndWithout) {
  for (const auto& [type, alg] :
       {std::pair("RSA-2048", "RS256"), std::pair("RSA-2048", "PS256"), std::pair("P-256", "ES256"),
        std::pair("Ed25519", "EdDSA"), std::pair("Ed25519", "Ed25519")}) {
    Json header{{"alg", alg}};
    EXPECT_EQ(Validate(test::Signed(test::NewKey(type), header, test::GoodClaims(Setting())), type),
              "")
        << alg;
    header["kid"] = "k1";
    EXPECT_EQ(Validate(test::Signed(test::NewKey(type), header, test::GoodClaims(Setting())), type),
              "")
        << alg;
  }
}

TEST(ClientAssertion, TheAudienceIsTheIssuerOrTheEndpointAndNothingElse) {
  EXPECT_EQ(ValidateClaims({{"aud", Setting().endpoint}}), "");
  EXPECT_EQ(ValidateClaims({{"aud", Json::array({Setting().issuer})}}), "");
  EXPECT_EQ(ValidateClaims(Json::object(), "client-authentication+jwt"), "");
  EXPECT_NE(ValidateClaims({{"aud", Setting().endpoint}}, "client-authentication+jwt"), "");
  EXPECT_NE(ValidateClaims({{"aud", Json::array({Setting().issuer})}}, "client-authentication+jwt"),
            "");
  for (const Json& bad :
       {Json(Setting().issuer + "/"), Json(Json::array()), Json(1), Json(nullptr)}) {
    EXPECT_NE(ValidateClaims({{"aud", bad}}), "") << bad;
  }
}

TEST(ClientAssertion, TimesAreCheckedWithTheSkewAndAreFiniteNumbers) {
  EXPECT_EQ(ValidateClaims({{"exp", kNow + 3660}}), "");
  EXPECT_NE(ValidateClaims({{"exp", kNow + 3662}}), "");
  EXPECT_EQ(ValidateClaims({{"exp", kNow - 59}}), "");
  EXPECT_NE(ValidateClaims({{"exp", kNow - 60}}), "");
  EXPECT_EQ(ValidateClaims({{"exp", kNow + 10.5}, {"nbf", kNow + 60}, {"iat", 0}}), "");
  for (const Json& bad : {Json("soon"), Json(-1), Json(1e300), Json(true), Json(nullptr)}) {
    EXPECT_NE(ValidateClaims({{"exp", bad}}), "") << bad;
    EXPECT_NE(ValidateClaims({{"iat", bad}}), "") << bad;
  }
}

TEST(ClientAssertion, TheJtiIsKeptAsLongAsTheAssertionCouldBeSentAgain) {
  const auto parsed = ParseJwt(test::GoodAssertion(Setting()));
  const Jwt& jwt = std::get<Jwt>(parsed);
  const AssertionRules rules{
      Setting().issuer, Setting().endpoint, {.lifetime_max = seconds(3600), .skew = seconds(60)}};
  const auto validated = ValidateAssertion(jwt, *ClaimedClient(jwt), rules,
                                           base::Timestamp(std::chrono::seconds(kNow)));
  EXPECT_EQ(std::get<Assertion>(validated).forget_at,
            base::Timestamp(std::chrono::seconds(kNow + 300 + 60)));
  for (const Json& bad : {Json(""), Json(std::string(256, 'j')), Json(7)}) {
    EXPECT_NE(ValidateClaims({{"jti", bad}}), "") << bad;
  }
}

}  // namespace
}  // namespace vedette::domain
