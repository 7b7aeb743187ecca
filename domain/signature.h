#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The signature of outgoing webhooks (docs/webhooks.md): Service-Signature:
// t=<unix>,v1=<hex>[,v1=<hex>] where v1 = lower-case hex of HMAC-SHA256(secret, "<t>." + body). The
// key is the UTF-8 bytes of the whole secret string, prefix included. Pure.
namespace vedette::domain {

inline constexpr std::string_view kSigningSecretPrefix = "sk_whsec_";  // then 64 hex digits
inline constexpr std::int64_t kSignatureToleranceSeconds = 300;

// The header's value, one v1 a secret, in the order given.
std::string SignatureHeader(const std::vector<std::string>& secrets, std::int64_t unix_seconds,
                            std::string_view body);

enum class SignatureCheck { kValid, kMalformed, kStale, kMismatch };
std::string_view SignatureCheckMessage(SignatureCheck check);  // one sentence

// What a receiver does: any v1 may match (compared in constant time), t within 300 s of `now`.
SignatureCheck VerifySignature(std::string_view secret, std::string_view header,
                               std::string_view body, std::int64_t now_unix_seconds);

}  // namespace vedette::domain
