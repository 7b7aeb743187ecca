#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/key_pair.h"

// Keys and tokens for tests of JOSE.
namespace vedette::test {

// A key as PEM: "RSA-2048", "P-256", "P-384", "Ed25519". Made once in a process each.
std::string PrivatePem(const std::string& type, int which = 0);
base::SigningKey NewKey(const std::string& type, int which = 0);

// header.claims.signature, where each is what base64url makes of it.
std::string Compact(std::string_view header, std::string_view claims,
                    const std::function<std::string(const std::string&)>& sign);
// Signed by the key, with the algorithm of the header "alg".
std::string Signed(const base::SigningKey& key, const base::Json& header, const base::Json& claims);

// Whose tokens a hostile one pretends to be: `client` uses an RSA key under the id "k1" whose
// public PEM everybody knows, `other` is another client with a key of its own.
struct HostileSetting {
  std::string client;
  std::string other;
  std::string issuer;
  std::string endpoint;
  std::int64_t now = 0;  // seconds
};
struct HostileToken {
  std::string name;  // what is wrong with it
  std::string token;
};
// A good assertion of the client; each of the hostile ones differs from it in one thing.
base::Json GoodClaims(const HostileSetting& setting);
std::string GoodAssertion(const HostileSetting& setting);
std::vector<HostileToken> HostileAssertions(const HostileSetting& setting);

}  // namespace vedette::test
