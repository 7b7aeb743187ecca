#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/key_pair.h"
#include "base/uuid.h"

// A signed JSON Web Token in its compact form (RFC 7515, 7519), taken apart. Nothing here is
// verified: a signature is the caller's to check, with a key that he knows. Pure.
namespace vedette::domain {

inline constexpr std::size_t kJwtBytesMax = 8192;
inline constexpr int kJwtDepthMax = 4;
inline constexpr std::size_t kKidBytesMax = 255;  // of a token, and of a key that it names

// Why a token is not taken: a sentence for the log. It quotes nothing of the token.
struct JwtFault {
  std::string reason;
};

struct Jwt {
  base::SignatureAlgorithm algorithm;
  std::optional<std::string> kid;
  std::string typ;  // in lower case; empty where the header has none
  base::JsonText claims;
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
std::variant<base::Timestamp, JwtFault> CheckTimes(const base::Json& claims, const TimeRules& rules,
                                                   base::Timestamp now);

// What a client asserts to show who it is (RFC 7521, 7523): private_key_jwt. Pure.

struct AssertionRules {
  std::string issuer;    // ours
  std::string endpoint;  // the URL of the route that is asked
  TimeRules times;
};

// What a good assertion says.
struct Assertion {
  std::string jti;
  // The moment from which its jti need not be known any more.
  base::Timestamp forget_at;
};

// The client that the assertion names: whose keys are to be tried. Nothing is verified by it.
std::optional<base::Uuid> ClaimedClient(const Jwt& jwt);

// Validates the claims of an assertion whose signature is the client's. The faults are told to the
// client: each names the claim and the rule.
//   iss, sub   the client's id, both
//   aud        one value, a text or an array of one text: the issuer, or the endpoint's URL
//              with typ client-authentication+jwt a text that equals the issuer (RFC 7523bis)
//   exp        required (CheckTimes), nbf and iat not ahead
//   jti        a text of 1 to 255 bytes
std::variant<Assertion, JwtFault> ValidateAssertion(const Jwt& jwt, const base::Uuid& client_id,
                                                    const AssertionRules& rules,
                                                    base::Timestamp now);

// An access token of the operator's identity provider (RFC 9068). Pure.

// A claim is named by its member, or by a JSON Pointer where the name begins with '/'.
struct ExternalTokenRules {
  std::string issuer;
  std::string audience;
  std::string org_claim;   // empty: every token is of one organisation
  std::string team_claim;  // empty: tokens are for the whole organisation
  std::string user_claim;
  std::vector<base::SignatureAlgorithm> algorithms;  // that are taken
  TimeRules times;
  std::string role_claim{};  // of an ID token; empty: nobody asks for it
};

struct ExternalToken {
  std::optional<std::string> organisation;  // an id or an external_id; empty without org_claim
  std::optional<std::string> team;
  std::string subject;
};

// Validates a token whose signature is the provider's. The fault is for the log.
std::variant<ExternalToken, JwtFault> ReadExternalToken(const Jwt& jwt,
                                                        const ExternalTokenRules& rules,
                                                        base::Timestamp now);

// An ID token of the provider (OpenID Connect Core 1.0, section 3.1.3.7), which a person brings who
// signs in at the dashboard or at the console. `rules.audience` is the client's id there.
struct IdToken {
  std::string email;  // verified by the provider; lower case
  std::optional<std::string> organisation{};
  std::optional<std::string> team{};
  std::string subject{};             // empty where the token has none
  std::vector<std::string> roles{};  // the texts of the claim of the role: one, or a list
};
// Validates a token whose signature is the provider's. The fault is for the log.
std::variant<IdToken, JwtFault> ReadIdToken(const Jwt& jwt, const ExternalTokenRules& rules,
                                            std::string_view nonce, base::Timestamp now);

// The principal of a subject: UUIDv5 of the issuer and the subject, so that no table is needed.
base::Uuid ExternalPrincipal(std::string_view issuer, std::string_view subject);

}  // namespace vedette::domain
