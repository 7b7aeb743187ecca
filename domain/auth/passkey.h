#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/key_pair.h"

// Passkeys: what a browser says for an authenticator when it makes one, and when it uses one
// (WebAuthn, level 2, sections 7.1 and 7.2). Attestation is "none": what is said of the maker of an
// authenticator is not read. Pure.
namespace vedette::domain {

inline constexpr std::size_t kClientDataBytesMax = 4096;
inline constexpr std::size_t kAuthenticatorBytesMax = 8192;  // data, or an attestation object
inline constexpr std::size_t kCredentialIdBytesMax = 1023;

// Why one is not taken: a sentence for the log.
struct PasskeyFault {
  std::string reason;
};

// Whose passkeys these are.
struct PasskeyRules {
  std::string origin;  // "https://app.example", as a browser writes it
  std::string rp_id;   // its host
};

// Those of a public URL: scheme, host and port, without what follows. Empty where passkeys cannot
// be: the URL is empty, or has an address for a name.
std::optional<PasskeyRules> PasskeyRulesOf(std::string_view public_url);

// The challenge that the client data names, to find what the server knows of it. Nothing else of
// it is looked at.
std::optional<std::string> ClaimedChallenge(std::string_view client_data);

struct NewPasskey {
  std::string credential_id;
  base::PublicKey key;
  base::SignatureAlgorithm algorithm;  // kEs256, kRs256 or kEdDsa
  std::uint32_t sign_count = 0;
};
// Reads what navigator.credentials.create gave: the client data and the attestation object. The
// user must have been verified.
std::variant<NewPasskey, PasskeyFault> ReadNewPasskey(std::string_view client_data,
                                                      std::string_view attestation,
                                                      std::string_view challenge,
                                                      const PasskeyRules& rules);

// What navigator.credentials.get gave.
struct PasskeyAnswer {
  std::string client_data;
  std::string authenticator_data;
  std::string signature;
};
struct KnownPasskey {
  base::PublicKey key;
  base::SignatureAlgorithm algorithm;
  std::uint32_t sign_count = 0;
};
// The new count of signatures, which must have grown unless the authenticator counts none: two
// with one key are not told apart otherwise.
std::variant<std::uint32_t, PasskeyFault> VerifyPasskey(const PasskeyAnswer& answer,
                                                        std::string_view challenge,
                                                        const KnownPasskey& known,
                                                        const PasskeyRules& rules);

}  // namespace vedette::domain
