#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/json.h"
#include "base/public_key.h"

// A signed JSON Web Token in its compact form (RFC 7515, 7519), taken apart. Nothing here is
// verified: a signature is the caller's to check, with a key that he knows. Pure.
namespace vedette::domain {

inline constexpr std::size_t kJwtBytesMax = 8192;
inline constexpr int kJwtDepthMax = 4;

// Why a token is not taken: a sentence for the log. It quotes nothing of the token.
struct JwtFault {
  std::string reason;
};

struct Jwt {
  base::SignatureAlgorithm algorithm;
  std::optional<std::string> kid;
  std::string typ;  // in lower case; empty where the header has none
  base::Json claims;
  std::string signing_input;
  std::string signature;
};

// Takes a token apart. Strict: three parts of base64url without padding; header and claims are
// objects in which no member stands twice, at most kJwtDepthMax deep; `alg` is one that
// base::SignatureAlgorithm has; `crit` and `b64` are refused. A key, or a URL of one, that stands
// in the header is not read.
std::variant<Jwt, JwtFault> ParseJwt(std::string_view text);

// Whether a text has the form of a token, three parts between two dots, whatever is in them.
bool LooksLikeJwt(std::string_view text);

// A claim that is text of 1 to `bytes_max` bytes, else empty.
std::optional<std::string> TextClaim(const base::Json& claims, std::string_view name,
                                     std::size_t bytes_max);

// When a token may be used.
struct TimeRules {
  std::chrono::seconds lifetime_max{};  // how far ahead `exp` may be
  std::chrono::seconds skew{};          // how far clocks may differ
};

// `exp`, which must be there and ahead, but not too far. `nbf` and `iat`, where they are given,
// must not be ahead. A time that is no finite number is refused.
std::variant<base::Timestamp, JwtFault> JudgeTimes(const base::Json& claims, const TimeRules& rules,
                                                   base::Timestamp now);

}  // namespace vedette::domain
