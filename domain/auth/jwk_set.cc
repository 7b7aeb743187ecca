#include "domain/auth/jwk_set.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.h"
#include "domain/text/limits.h"

namespace vedette::domain {
namespace {

constexpr int kSetDepthMax = 8;
constexpr int kMembersMax = 64;

JwkReport ReadKey(const base::Json& jwk) {
  if (!jwk.is_object()) return {std::nullopt, JwtFault{"the key is no object"}};
  auto kid = TextClaim(jwk, "kid", kKidBytesMax);
  if (jwk.contains("kid") && !kid) {
    return {std::nullopt, JwtFault{"kid is no text of 1 to 255 bytes"}};
  }
  auto key = base::PublicKey::FromJwk(jwk);
  if (auto* fault = std::get_if<base::KeyFault>(&key)) {
    return {std::move(kid), JwtFault{std::move(fault->message)}};
  }
  SetKey read{kid, std::nullopt, std::get<base::PublicKey>(std::move(key))};
  if (const auto alg = jwk.find("alg"); alg != jwk.end()) {
    if (alg->is_string()) {
      read.algorithm = base::ParseSignatureAlgorithm(alg->get_ref<const std::string&>());
    }
    if (!read.algorithm || !read.key.Fits(*read.algorithm)) {
      return {std::move(kid), JwtFault{"alg is none that fits the key"}};
    }
  }
  return {std::move(kid), std::move(read)};
}

}  // namespace

std::variant<std::vector<JwkReport>, JwtFault> ReadJwks(std::string_view text, int keys_max) {
  base::Json set;
  const base::JsonLimits limits{
      .depth_max = kSetDepthMax, .members_max = kMembersMax, .unique_members = true};
  if (const auto error = base::ParseJson(text, &set, limits)) {
    return JwtFault{"the document cannot be read as JSON: " + error->message};
  }
  const auto keys = set.is_object() ? set.find("keys") : set.end();
  if (!set.is_object() || keys == set.end() || !keys->is_array()) {
    return JwtFault{"the document has no array keys"};
  }
  if (keys->size() > static_cast<std::size_t>(keys_max)) {
    return JwtFault{"the set has more than " + std::to_string(keys_max) + " keys"};
  }
  std::vector<JwkReport> read;
  read.reserve(keys->size());
  for (const base::Json& jwk : *keys) read.push_back(ReadKey(jwk));
  return read;
}

std::vector<SetKey> UsableKeys(const std::vector<JwkReport>& reports) {
  std::vector<SetKey> keys;
  for (const JwkReport& report : reports) {
    if (const auto* key = std::get_if<SetKey>(&report.key)) keys.push_back(*key);
  }
  return keys;
}

JwtFault NoUsableKey() {
  return {"no key of the set can be used"};
}

bool KnowsKid(const std::vector<SetKey>& keys, std::string_view kid) {
  return std::any_of(keys.begin(), keys.end(), [&](const SetKey& key) { return key.kid == kid; });
}

bool VerifiedByOne(const std::vector<SetKey>& keys, const Jwt& jwt) {
  std::vector<const SetKey*> candidates;
  for (const SetKey& key : keys) {
    if (!key.Takes(jwt.algorithm)) continue;
    if (!jwt.kid || key.kid == *jwt.kid) candidates.push_back(&key);
  }
  if (jwt.kid && candidates.size() != 1) return false;
  return std::any_of(candidates.begin(), candidates.end(), [&](const SetKey* key) {
    return key->key.Verify(jwt.algorithm, jwt.signing_input, jwt.signature);
  });
}

FetchDecision WhenToFetch(const KeyCache& cache, bool known, const FetchRules& rules,
                          base::Timestamp now) {
  const bool may_fetch = !cache.tried_at || now - *cache.tried_at >= rules.retry;
  if (!cache.has_keys || now - cache.fetched_at > rules.stale_max) {
    if (may_fetch) return FetchDecision::kFetch;
    return cache.under_way ? FetchDecision::kWait : FetchDecision::kNoKeys;
  }
  const bool fresh = now - cache.fetched_at < rules.fresh;
  if (fresh && known) return FetchDecision::kUse;
  if (may_fetch) return FetchDecision::kFetch;
  if (known) return FetchDecision::kUseStale;
  return cache.under_way ? FetchDecision::kWait : FetchDecision::kRefuse;
}

namespace {

// Far more than any provider's document has.
constexpr base::JsonLimits kLimits{
    .depth_max = 8, .members_max = 256, .values_max = 4096, .unique_members = true};

}  // namespace

std::string DiscoveryUrl(std::string_view issuer) {
  if (issuer.ends_with('/')) issuer.remove_suffix(1);
  return std::string(issuer) + "/.well-known/openid-configuration";
}

namespace {

// The URL that a member of the document is: https, or http where the issuer itself is.
std::optional<std::string> EndpointOf(const base::Json& document, std::string_view name,
                                      std::string_view issuer) {
  auto url = TextClaim(document, name, kUrlCharsMax);
  if (!url) return std::nullopt;
  const bool plain = issuer.starts_with("http://") && url->starts_with("http://");
  if (!plain && !url->starts_with("https://")) return std::nullopt;
  return url;
}

}  // namespace

std::variant<std::string, JwtFault> ReadDiscovery(std::string_view text, std::string_view issuer) {
  base::Json document;
  if (const auto error = base::ParseJson(text, &document, kLimits)) {
    return JwtFault{"the discovery document: " + error->message};
  }
  if (!document.is_object()) return JwtFault{"the discovery document is no object"};
  if (TextClaim(document, "issuer", kUrlCharsMax) != issuer) {
    return JwtFault{"the discovery document names another issuer than the configuration"};
  }
  if (!TextClaim(document, "jwks_uri", kUrlCharsMax)) {
    return JwtFault{"the discovery document has no jwks_uri"};
  }
  auto url = EndpointOf(document, "jwks_uri", issuer);
  if (!url) return JwtFault{"the jwks_uri is not https"};
  return std::move(*url);
}

std::optional<SignInEndpoints> ReadSignInEndpoints(std::string_view text, std::string_view issuer) {
  base::Json document;
  if (base::ParseJson(text, &document, kLimits) || !document.is_object()) return std::nullopt;
  if (TextClaim(document, "issuer", kUrlCharsMax) != issuer) return std::nullopt;
  auto authorization = EndpointOf(document, "authorization_endpoint", issuer);
  auto token = EndpointOf(document, "token_endpoint", issuer);
  if (!authorization || !token) return std::nullopt;
  return SignInEndpoints{std::move(*authorization), std::move(*token)};
}

}  // namespace vedette::domain
