#include "domain/auth/jwt.h"

#include <gtest/gtest.h>

#include "tests/support/jose.h"

namespace vedette::domain {
namespace {

using base::Json;
using std::chrono::seconds;

constexpr std::int64_t kNow = 1'800'000'000;

ExternalTokenRules Rules() {
  return {.issuer = "https://idp.example/",
          .audience = "vedette",
          .org_claim = "/org/id",
          .team_claim = "",
          .user_claim = "sub",
          .algorithms = {base::SignatureAlgorithm::kEs256},
          .times = {.lifetime_max = seconds(86'400), .skew = seconds(60)}};
}

Json Good() {
  return {{"iss", "https://idp.example/"},
          {"aud", {"other", "vedette"}},
          {"sub", "ada"},
          {"exp", kNow + 60},
          {"org", {{"id", "acme"}}}};
}

std::variant<ExternalToken, JwtFault> Read(const Json& claims, const ExternalTokenRules& rules,
                                           const std::string& typ = "at+jwt") {
  Jwt jwt{};
  jwt.algorithm = base::SignatureAlgorithm::kEs256;
  jwt.claims = claims;
  jwt.typ = typ;
  return ReadExternalToken(jwt, rules, base::Timestamp(seconds(kNow)));
}

TEST(ExternalToken, NamesItsOrganisationItsTeamAndItsSubject) {
  const auto token = std::get<ExternalToken>(Read(Good(), Rules()));
  EXPECT_EQ(token.organisation, "acme");
  EXPECT_EQ(token.subject, "ada");
  EXPECT_FALSE(token.team);
  ExternalTokenRules rules = Rules();
  rules.org_claim = "";
  EXPECT_FALSE(std::get<ExternalToken>(Read(Good(), rules)).organisation);
  rules.team_claim = "team";
  EXPECT_TRUE(std::holds_alternative<JwtFault>(Read(Good(), rules)));
  Json claims = Good();
  claims["team"] = "t";
  EXPECT_EQ(std::get<ExternalToken>(Read(claims, rules)).team, "t");
}

TEST(ExternalToken, OneWithoutItsOrganisationNamesAnUnknownOne) {
  for (const Json& org : {Json(nullptr), Json("acme"), Json{{"id", 7}}, Json{{"id", ""}}}) {
    Json claims = Good();
    claims["org"] = org;
    EXPECT_EQ(std::get<ExternalToken>(Read(claims, Rules())).organisation, "") << org;
  }
}

TEST(ExternalToken, OfAnotherIssuerAudienceOrKindIsRefused) {
  for (const Json& change :
       {Json{{"iss", "https://idp.example"}}, Json{{"iss", 1}}, Json{{"aud", "other"}},
        Json{{"aud", "vedett"}}, Json{{"aud", Json::array()}}, Json{{"aud", Json::object()}},
        Json{{"nonce", "n"}}, Json{{"at_hash", "h"}}, Json{{"c_hash", "h"}},
        Json{{"exp", kNow - 61}}, Json{{"exp", kNow + 90'000}}, Json{{"exp", "1"}},
        Json{{"nbf", kNow + 61}}, Json{{"iat", kNow + 61}}, Json{{"sub", ""}}, Json{{"sub", 5}},
        Json{{"sub", std::string(256, 's')}}}) {
    Json claims = Good();
    claims.update(change);
    EXPECT_TRUE(std::holds_alternative<JwtFault>(Read(claims, Rules()))) << change;
  }
  for (const char* name : {"iss", "aud", "sub", "exp"}) {
    Json claims = Good();
    claims.erase(name);
    EXPECT_TRUE(std::holds_alternative<JwtFault>(Read(claims, Rules()))) << name;
  }
  EXPECT_TRUE(std::holds_alternative<JwtFault>(Read(Good(), Rules(), "logout+jwt")));
  for (const char* typ : {"", "jwt", "at+jwt"}) {
    EXPECT_TRUE(std::holds_alternative<ExternalToken>(Read(Good(), Rules(), typ))) << typ;
  }
}

TEST(ExternalToken, SignedWithAnAlgorithmThatIsNotConfiguredIsRefused) {
  ExternalTokenRules rules = Rules();
  rules.algorithms = {base::SignatureAlgorithm::kRs256, base::SignatureAlgorithm::kEdDsa};
  EXPECT_TRUE(std::holds_alternative<JwtFault>(Read(Good(), rules)));
}

TEST(ExternalToken, APrincipalIsOfItsIssuerAndSubject) {
  EXPECT_EQ(ExternalPrincipal("i", "s"), ExternalPrincipal("i", "s"));
  EXPECT_NE(ExternalPrincipal("i", "s"), ExternalPrincipal("i", "t"));
  EXPECT_NE(ExternalPrincipal("i", "s"), ExternalPrincipal("j", "s"));
  EXPECT_NE(ExternalPrincipal("ab", "c"), ExternalPrincipal("a", "bc"));
}

// The roles that an ID token gives by the claim of this name.
std::vector<std::string> RolesOf(const Json& more, const std::string& claim) {
  ExternalTokenRules rules = Rules();
  rules.role_claim = claim;
  Jwt jwt{};
  jwt.algorithm = base::SignatureAlgorithm::kEs256;
  Json claims{{"iss", "https://idp.example/"},
              {"aud", "vedette"},
              {"sub", "ada"},
              {"exp", kNow + 60},
              {"nonce", "n"},
              {"email", "Ada@example.com"},
              {"email_verified", true}};
  claims.update(more);
  jwt.claims = claims;
  const auto read = ReadIdToken(jwt, rules, "n", base::Timestamp(seconds(kNow)));
  const IdToken& token = std::get<IdToken>(read);
  EXPECT_EQ(token.email, "ada@example.com");
  EXPECT_EQ(token.subject, "ada");
  return token.roles;
}

TEST(IdToken, ItsRolesAreATextOrAListOfThemWhereverTheClaimIs) {
  using Roles = std::vector<std::string>;
  EXPECT_EQ(RolesOf({{"vedette_role", "admin"}}, "vedette_role"), Roles{"admin"});
  EXPECT_EQ(RolesOf({{"groups", {"a", "b"}}}, "groups"), (Roles{"a", "b"}));
  EXPECT_EQ(RolesOf({{"realm", {{"roles", {"a", 7, nullptr, "", Json::array({"c"}), "b"}}}}},
                    "/realm/roles"),
            (Roles{"a", "b"}));
  EXPECT_EQ(RolesOf({{"https://x.example/roles", {"a"}}}, "https://x.example/roles"), Roles{"a"});
  EXPECT_EQ(RolesOf({{"groups", std::string(256, 'a')}}, "groups"), Roles{});
  for (const Json& none : {Json(nullptr), Json(7), Json(true), Json::object(), Json::array()}) {
    EXPECT_EQ(RolesOf({{"groups", none}}, "groups"), Roles{}) << none;
  }
  EXPECT_EQ(RolesOf({{"groups", "a"}}, ""), Roles{}) << "nobody asks";
  EXPECT_EQ(RolesOf(Json::object(), "/~2"), Roles{});
}

}  // namespace
}  // namespace vedette::domain
