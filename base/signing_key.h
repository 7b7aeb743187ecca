#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/public_key.h"

namespace vedette::base {

// A private key that makes signatures of JOSE, for the command that writes an assertion and for
// tests: the service itself has no such key. Immutable; any thread.
class SigningKey {
 public:
  // RSA, EC on P-256 or Ed25519 as PEM without a password. Throws std::runtime_error, whose message
  // has nothing of the key.
  static SigningKey FromPem(std::string_view pem);

  std::string PublicPem() const;
  // RS256, ES256 or EdDSA.
  SignatureAlgorithm DefaultAlgorithm() const;
  // The signature as JWS has it: ES256 is r and s, 64 bytes. Throws std::runtime_error for an
  // algorithm that does not fit.
  std::string Sign(SignatureAlgorithm algorithm, std::string_view data) const;

 private:
  struct Handle;
  explicit SigningKey(std::shared_ptr<const Handle> handle);
  std::shared_ptr<const Handle> handle_;
};

}  // namespace vedette::base
