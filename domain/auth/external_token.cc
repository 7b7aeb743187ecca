#include "domain/auth/external_token.h"

#include <algorithm>
#include <utility>

namespace vedette::domain {
namespace {

constexpr std::size_t kClaimBytesMax = 255;

// The claim of this name as text of 1 to kClaimBytesMax bytes.
std::optional<std::string> Find(const base::Json& claims, const std::string& name) {
  if (!name.starts_with('/')) return TextClaim(claims, name, kClaimBytesMax);
  try {
    const base::Json::json_pointer pointer(name);
    if (!claims.contains(pointer)) return std::nullopt;
    const base::Json& value = claims.at(pointer);
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text.empty() || text.size() > kClaimBytesMax) return std::nullopt;
    return text;
  } catch (const base::Json::exception&) {  // the pointer is none, or leads nowhere
    return std::nullopt;
  }
}

bool Names(const base::Json& claims, const std::string& audience) {
  const auto aud = claims.find("aud");
  if (aud == claims.end()) return false;
  if (aud->is_string()) return *aud == audience;
  return aud->is_array() && std::find(aud->begin(), aud->end(), audience) != aud->end();
}

}  // namespace

std::variant<ExternalToken, JwtFault> ReadExternalToken(const Jwt& jwt,
                                                        const ExternalTokenRules& rules,
                                                        base::Timestamp now) {
  const auto& algorithms = rules.algorithms;
  if (std::find(algorithms.begin(), algorithms.end(), jwt.algorithm) == algorithms.end()) {
    return JwtFault{"alg is none of [oidc] algorithms"};
  }
  if (!jwt.typ.empty() && jwt.typ != "jwt" && jwt.typ != "at+jwt") {
    return JwtFault{"typ must be JWT or at+jwt"};
  }
  // An ID token says who logged in to some application; it lets nobody in here.
  for (const char* name : {"nonce", "at_hash", "c_hash"}) {
    if (jwt.claims.contains(name)) return JwtFault{"this is an ID token"};
  }
  const auto issuer = jwt.claims.find("iss");
  if (issuer == jwt.claims.end() || *issuer != rules.issuer) return JwtFault{"iss is another"};
  if (!Names(jwt.claims, rules.audience)) return JwtFault{"aud does not name this API"};
  const auto expires_at = JudgeTimes(jwt.claims, rules.times, now);
  if (const auto* fault = std::get_if<JwtFault>(&expires_at)) return *fault;
  ExternalToken token;
  auto subject = Find(jwt.claims, rules.user_claim);
  if (!subject) return JwtFault{"the claim of the user is no text of 1 to 255 bytes"};
  token.subject = std::move(*subject);
  if (!rules.org_claim.empty()) {
    token.organisation = Find(jwt.claims, rules.org_claim).value_or("");
  }
  if (!rules.team_claim.empty()) {
    token.team = Find(jwt.claims, rules.team_claim);
    if (!token.team) return JwtFault{"the claim of the team is no text of 1 to 255 bytes"};
  }
  return token;
}

base::Uuid ExternalPrincipal(std::string_view issuer, std::string_view subject) {
  return base::Uuid::V5(base::Uuid::V5(base::Uuid{}, issuer), subject);
}

}  // namespace vedette::domain
