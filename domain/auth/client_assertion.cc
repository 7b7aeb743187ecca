#include "domain/auth/client_assertion.h"

#include <utility>

namespace vedette::domain {
namespace {

constexpr std::size_t kUuidChars = 36;
constexpr std::size_t kJtiBytesMax = 255;
constexpr std::string_view kStrictType = "client-authentication+jwt";

std::optional<std::string> AudienceFault(const Jwt& jwt, const AssertionRules& rules) {
  const auto aud = jwt.claims.find("aud");
  if (aud == jwt.claims.end()) return "aud is missing";
  const bool strict = jwt.typ == kStrictType;
  const base::Json* value = &*aud;
  if (!strict && value->is_array() && value->size() == 1) value = &value->front();
  if (!value->is_string()) return "aud must be one text";
  const auto& text = value->get_ref<const std::string&>();
  if (text == rules.issuer || (!strict && text == rules.endpoint)) return std::nullopt;
  return "aud must be the issuer" + std::string(strict ? "" : " or the URL of this endpoint");
}

}  // namespace

std::optional<base::Uuid> ClaimedClient(const Jwt& jwt) {
  const auto sub = TextClaim(jwt.claims, "sub", kUuidChars);
  return sub ? base::Uuid::Parse(*sub) : std::nullopt;
}

std::variant<Assertion, JwtFault> JudgeAssertion(const Jwt& jwt, const base::Uuid& client_id,
                                                 const AssertionRules& rules, base::Timestamp now) {
  if (!jwt.typ.empty() && jwt.typ != "jwt" && jwt.typ != kStrictType) {
    return JwtFault{"typ must be JWT or client-authentication+jwt"};
  }
  const std::string id = client_id.ToString();
  for (const char* name : {"iss", "sub"}) {
    if (TextClaim(jwt.claims, name, kUuidChars) != id) {
      return JwtFault{std::string(name) + " must be the client's id"};
    }
  }
  if (auto wrong = AudienceFault(jwt, rules)) return JwtFault{std::move(*wrong)};
  const auto expires_at = JudgeTimes(jwt.claims, rules.times, now);
  if (const auto* fault = std::get_if<JwtFault>(&expires_at)) return *fault;
  auto jti = TextClaim(jwt.claims, "jti", kJtiBytesMax);
  if (!jti) return JwtFault{"jti must be a text of 1 to 255 bytes"};
  return Assertion{std::move(*jti), std::get<base::Timestamp>(expires_at) + rules.times.skew};
}

}  // namespace vedette::domain
