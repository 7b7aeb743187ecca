#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/uuid.h"
#include "domain/auth/jwt.h"

// What a client asserts to show who it is (RFC 7521, 7523): private_key_jwt. Pure.
namespace vedette::domain {

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
//   exp        required (JudgeTimes), nbf and iat not ahead
//   jti        a text of 1 to 255 bytes
std::variant<Assertion, JwtFault> JudgeAssertion(const Jwt& jwt, const base::Uuid& client_id,
                                                 const AssertionRules& rules, base::Timestamp now);

}  // namespace vedette::domain
