#include "domain/auth/jwk_set.h"

#include <algorithm>
#include <utility>

namespace vedette::domain {
namespace {

constexpr int kSetDepthMax = 8;
constexpr int kMembersMax = 64;
constexpr std::size_t kKidBytesMax = 255;

// The key, or nothing where it cannot be used.
std::optional<SetKey> ReadKey(const base::Json& jwk) {
  auto key = base::PublicKey::FromJwk(jwk);
  if (!std::holds_alternative<base::PublicKey>(key)) return std::nullopt;
  SetKey read{std::nullopt, std::nullopt, std::get<base::PublicKey>(std::move(key))};
  if (jwk.contains("kid")) {
    read.kid = TextClaim(jwk, "kid", kKidBytesMax);
    if (!read.kid) return std::nullopt;
  }
  if (const auto alg = jwk.find("alg"); alg != jwk.end()) {
    if (!alg->is_string()) return std::nullopt;
    read.algorithm = base::ParseSignatureAlgorithm(alg->get_ref<const std::string&>());
    if (!read.algorithm || !read.key.Fits(*read.algorithm)) return std::nullopt;
  }
  return read;
}

}  // namespace

std::variant<std::vector<SetKey>, JwtFault> ReadJwkSet(std::string_view text, int keys_max) {
  base::Json set;
  const base::JsonLimits limits{
      .depth_max = kSetDepthMax, .members_max = kMembersMax, .unique_members = true};
  if (const auto error = base::ParseJson(text, &set, limits)) return JwtFault{error->message};
  const auto keys = set.is_object() ? set.find("keys") : set.end();
  if (!set.is_object() || keys == set.end() || !keys->is_array()) {
    return JwtFault{"the document has no array keys"};
  }
  if (keys->size() > static_cast<std::size_t>(keys_max)) {
    return JwtFault{"the set has more than " + std::to_string(keys_max) + " keys"};
  }
  std::vector<SetKey> read;
  for (const base::Json& jwk : *keys) {
    if (auto key = ReadKey(jwk)) read.push_back(std::move(*key));
  }
  return read;
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
    return may_fetch ? FetchDecision::kFetch : FetchDecision::kNoKeys;
  }
  const bool fresh = now - cache.fetched_at < rules.fresh;
  if (fresh && known) return FetchDecision::kUse;
  if (may_fetch) return FetchDecision::kFetch;
  return known ? FetchDecision::kUseStale : FetchDecision::kRefuse;
}

}  // namespace vedette::domain
