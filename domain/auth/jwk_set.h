#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/key_pair.h"
#include "domain/auth/jwt.h"

// Sets of public keys (RFC 7517), which of them may have signed a token, and when a set is fetched
// again. Pure.
namespace vedette::domain {

struct SetKey {
  std::optional<std::string> kid;
  std::optional<base::SignatureAlgorithm> algorithm;  // the only one, where the key names one
  base::PublicKey key;

  bool Takes(base::SignatureAlgorithm wanted) const {
    return key.Fits(wanted) && (!algorithm || *algorithm == wanted);
  }
};

// One member of a set, as its owner wrote it.
struct JwkReport {
  std::optional<std::string> kid;  // where it is one that can be used
  std::variant<SetKey, JwtFault> key;
};

// Reads {"keys": [...]}: a report of every key. The fault is one sentence: no JSON, no set, or more
// than `keys_max` keys.
std::variant<std::vector<JwkReport>, JwtFault> ReadJwks(std::string_view text, int keys_max);
// The keys that can be used. Another key is passed over, never an error for these.
std::vector<SetKey> UsableKeys(const std::vector<JwkReport>& reports);
// What is said of a set that has none. It never takes the place of keys that can be used.
JwtFault NoUsableKey();

// Whether a key of the set has this id.
bool KnowsKid(const std::vector<SetKey>& keys, std::string_view kid);

// Whether one of the keys has signed the token. With a kid it is the one key that has it
// and takes the token's algorithm: where two have it, neither counts. Without a kid each key is
// tried.
bool VerifiedByOne(const std::vector<SetKey>& keys, const Jwt& jwt);

// What is known of a set in a cache.
struct KeyCache {
  bool has_keys = false;
  base::Timestamp fetched_at;               // of the keys, if there are any
  std::optional<base::Timestamp> tried_at;  // of the last fetch that was begun
  bool under_way = false;                   // whether that fetch has not ended yet
};
struct FetchRules {
  std::chrono::milliseconds fresh{};
  std::chrono::milliseconds retry{};
  std::chrono::milliseconds stale_max{};
};
enum class FetchDecision {
  kUse,       // the keys that are there
  kFetch,     // then decide by what came
  kUseStale,  // a fetch is due, but the last one is too young: the old keys serve
  kWait,      // nothing to decide by but what a fetch that is under way will bring
  kRefuse,    // the keys are fresh enough to know that there is no such key
  kNoKeys,    // none, or too old, and a fetch must not be made yet
};
// `known`: whether the keys that are there have the key that is asked for.
FetchDecision WhenToFetch(const KeyCache& cache, bool known, const FetchRules& rules,
                          base::Timestamp now);

// What an identity provider says of itself (OpenID Connect Discovery 1.0). Pure.

// The URL of this issuer's document.
std::string DiscoveryUrl(std::string_view issuer);

// Reads the document: the URL of the provider's keys. Its `issuer` must be the configured one, byte
// for byte, and the URL https, or http where the issuer itself is. The fault is one sentence.
std::variant<std::string, JwtFault> ReadDiscovery(std::string_view text, std::string_view issuer);

// The URLs at which people sign in, and at which a code becomes a token.
struct SignInEndpoints {
  std::string authorization;
  std::string token;
};
// Those of the same document, under the same rules; empty where it has none that can be used.
std::optional<SignInEndpoints> ReadSignInEndpoints(std::string_view text, std::string_view issuer);

}  // namespace vedette::domain
