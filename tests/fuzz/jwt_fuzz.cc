// What strangers send as a token, and what others publish as keys. A token's parts are also made of
// the input as it stands, so that the readers of JSON behind base64url are reached.
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/crypto.h"
#include "domain/auth/jwk_set.h"
#include "domain/auth/jwt.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

using base::Timestamp;

const Timestamp kNow(std::chrono::seconds(1'800'000'000));

void Validate(std::string_view text) {
  const auto parsed = domain::ParseJwt(text);
  const auto* jwt = std::get_if<domain::Jwt>(&parsed);
  if (jwt == nullptr) return;
  // A text that is taken apart is the text of its parts, and of no other.
  const std::string again = jwt->signing_input + "." + base::Base64UrlEncode(jwt->signature);
  if (again != text) std::abort();
  const domain::TimeRules times{std::chrono::hours(1), std::chrono::minutes(1)};
  if (const auto id = domain::ClaimedClient(*jwt)) {
    (void)domain::ValidateAssertion(*jwt, *id, {"https://a", "https://a/oauth/token", times}, kNow);
  }
  const domain::ExternalTokenRules rules{
      "https://a", "b", "/org/id", "", "sub", {base::SignatureAlgorithm::kEs256}, times};
  const auto token = domain::ReadExternalToken(*jwt, rules, kNow);
  if (const auto* good = std::get_if<domain::ExternalToken>(&token)) {
    if (good->subject.empty() || good->subject.size() > 255) std::abort();
  }
}

}  // namespace

FUZZ_TARGET(jwt, text) {
  Validate(text);
  const std::size_t half = text.size() / 2;
  Validate(base::Base64UrlEncode(text.substr(0, half)) + "." +
           base::Base64UrlEncode(text.substr(half)) + ".c2ln");
  Validate("eyJhbGciOiJFUzI1NiJ9." + base::Base64UrlEncode(text) + ".c2ln");
  const auto set = domain::ReadJwks(text, 20);
  if (const auto* reports = std::get_if<std::vector<domain::JwkReport>>(&set)) {
    if (reports->size() > 20) std::abort();
    for (const domain::SetKey& key : domain::UsableKeys(*reports)) {
      const auto back = base::PublicKey::FromDer(key.key.Der());
      if (!std::holds_alternative<base::PublicKey>(back)) std::abort();
    }
  }
  (void)domain::ReadDiscovery(text, "https://a");
}

}  // namespace vedette
