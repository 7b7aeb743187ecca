#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_text.h"

// Public keys that verify signatures of JOSE (RFC 7515, 7518, 8037), over OpenSSL. Every function
// is safe on any thread, and a key may be used by many at once.
namespace vedette::base {

// What a signature may be made with. There is no other: neither "none" nor a shared secret.
enum class SignatureAlgorithm { kRs256, kPs256, kEs256, kEdDsa };
std::string_view SignatureAlgorithmName(SignatureAlgorithm algorithm);  // "RS256", ...
// "Ed25519" (RFC 9864) is another name of EdDSA. Names are compared byte for byte.
std::optional<SignatureAlgorithm> ParseSignatureAlgorithm(std::string_view name);

// Why a key is not taken: one sentence for the sender.
struct KeyFault {
  std::string message;
};

// An RSA key of 2048 to 8192 bits whose exponent is odd and 3 to 2^32 - 1, a point on P-256, or an
// Ed25519 key. Immutable; copies share the key.
class PublicKey {
 public:
  // Text with one block BEGIN PUBLIC KEY (SubjectPublicKeyInfo), at most kPemBytesMax.
  static constexpr std::size_t kPemBytesMax = 16384;
  static std::variant<PublicKey, KeyFault> FromPem(std::string_view pem);
  // A JWK (RFC 7517). One with a member of a private key, or with a `use` other than "sig", is not
  // taken. `alg` and `kid` are the caller's.
  static std::variant<PublicKey, KeyFault> FromJwk(const Json& jwk);
  // What Der() gave.
  static std::variant<PublicKey, KeyFault> FromDer(std::string_view der);

  std::string Der() const;         // SubjectPublicKeyInfo
  std::string Thumbprint() const;  // RFC 7638, SHA-256, base64url

  // Whether signatures of this algorithm can be of this key: RSA has RS256 and PS256, P-256 has
  // ES256, Ed25519 has EdDSA. A key never verifies a signature of another algorithm.
  bool Fits(SignatureAlgorithm algorithm) const;
  // What is meant where nothing is said: RS256, ES256 or EdDSA.
  SignatureAlgorithm DefaultAlgorithm() const;

  // Whether `signature` (as JWS has it: ES256 is r and s, 64 bytes) is this key's for `data`. False
  // for an algorithm that does not fit, and for whatever else is wrong.
  bool Verify(SignatureAlgorithm algorithm, std::string_view data,
              std::string_view signature) const;

 private:
  enum class Type { kRsa, kP256, kEd25519 };
  struct Handle;
  PublicKey(std::shared_ptr<const Handle> handle, Type type);
  static std::variant<PublicKey, KeyFault> Validate(std::shared_ptr<const Handle> handle);

  std::shared_ptr<const Handle> handle_;
  Type type_;
};

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
