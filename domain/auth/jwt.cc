#include "domain/auth/jwt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

// Members of one object, and values of one part: far more than any issuer writes.
constexpr int kMembersMax = 128;
constexpr std::size_t kValuesMax = 512;
constexpr std::size_t kEmailBytesMax = 200;  // as of a member
// The end of the year 9999, in seconds. Later times are forged, and the database may not hold them.
constexpr double kSecondsMax = 253'402'300'800.0;

constexpr base::JsonLimits kLimits{.depth_max = kJwtDepthMax,
                                   .members_max = kMembersMax,
                                   .values_max = kValuesMax,
                                   .unique_members = true};

// One part as an object; what is wrong otherwise.
std::optional<std::string> ReadPart(std::string_view part, base::Json* out) {
  const auto text = base::Base64UrlDecode(part);
  if (!text) return "is no base64url";
  if (text->starts_with(base::kByteOrderMark)) return "begins with a byte order mark";
  if (const auto error = base::ParseJson(*text, out, kLimits)) return error->message;
  if (!out->is_object()) return "is no object";
  return std::nullopt;
}

// What the header says, into `jwt`; what is wrong with it otherwise.
std::optional<std::string> ReadHeader(const base::Json& header, Jwt* jwt) {
  if (header.contains("crit")) return "the header has crit";
  if (header.contains("b64")) return "the header has b64";
  const auto alg = header.find("alg");
  if (alg == header.end() || !alg->is_string()) return "alg is missing or no text";
  const auto algorithm = base::ParseSignatureAlgorithm(alg->get_ref<const std::string&>());
  if (!algorithm) return "alg is none that is taken";
  jwt->algorithm = *algorithm;
  if (const auto typ = header.find("typ"); typ != header.end()) {
    if (!typ->is_string()) return "typ is no text";
    jwt->typ = base::AsciiLower(typ->get_ref<const std::string&>());
  }
  if (header.contains("kid")) {
    jwt->kid = TextClaim(header, "kid", kKidBytesMax);
    if (!jwt->kid) return "kid is no text of 1 to 255 bytes";
  }
  return std::nullopt;
}

// The time in a claim. Empty where it is no finite number that stands for a time.
std::optional<base::Timestamp> TimeOf(const base::Json& value) {
  if (!value.is_number()) return std::nullopt;
  const double seconds = value.get<double>();
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kSecondsMax) return std::nullopt;
  return base::Timestamp(std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)));
}

}  // namespace

bool LooksLikeJwt(std::string_view text) {
  return std::count(text.begin(), text.end(), '.') == 2;
}

std::variant<Jwt, JwtFault> ParseJwt(std::string_view text) {
  if (text.size() > kJwtBytesMax) return JwtFault{"the token is too long"};
  if (!LooksLikeJwt(text)) return JwtFault{"the token does not have three parts"};
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  Jwt jwt{};
  base::Json header;
  if (const auto wrong = ReadPart(text.substr(0, first), &header)) {
    return JwtFault{"the header: " + *wrong};
  }
  if (auto wrong = ReadHeader(header, &jwt)) return JwtFault{std::move(*wrong)};
  base::Json claims;
  if (const auto wrong = ReadPart(text.substr(first + 1, second - first - 1), &claims)) {
    return JwtFault{"the claims: " + *wrong};
  }
  jwt.claims = std::move(claims);
  auto signature = base::Base64UrlDecode(text.substr(second + 1));
  if (!signature || signature->empty()) return JwtFault{"the signature is no base64url"};
  jwt.signing_input = text.substr(0, second);
  jwt.signature = std::move(*signature);
  return jwt;
}

std::optional<std::string> TextClaim(const base::Json& claims, std::string_view name,
                                     std::size_t bytes_max) {
  const auto it = claims.find(name);
  if (it == claims.end() || !it->is_string()) return std::nullopt;
  const auto& text = it->get_ref<const std::string&>();
  if (text.empty() || text.size() > bytes_max) return std::nullopt;
  return text;
}

std::variant<base::Timestamp, JwtFault> CheckTimes(const base::Json& claims, const TimeRules& rules,
                                                   base::Timestamp now) {
  const auto exp = claims.find("exp");
  if (exp == claims.end()) return JwtFault{"exp is missing"};
  const auto expires_at = TimeOf(*exp);
  if (!expires_at) return JwtFault{"exp is no time"};
  if (*expires_at + rules.skew <= now) return JwtFault{"exp has passed"};
  if (*expires_at > now + rules.lifetime_max + rules.skew) {
    return JwtFault{"exp is further ahead than " + std::to_string(rules.lifetime_max.count()) +
                    " seconds"};
  }
  for (const char* name : {"nbf", "iat"}) {
    const auto it = claims.find(name);
    if (it == claims.end()) continue;
    const auto time = TimeOf(*it);
    if (!time) return JwtFault{std::string(name) + " is no time"};
    if (*time > now + rules.skew) return JwtFault{std::string(name) + " is ahead"};
  }
  return *expires_at;
}

namespace {

constexpr std::size_t kUuidChars = 36;
constexpr std::size_t kJtiBytesMax = 255;
constexpr std::string_view kStrictType = "client-authentication+jwt";

std::optional<std::string> AudienceFault(const Jwt& jwt, const AssertionRules& rules) {
  const base::Json& claims = jwt.claims.Value();
  const auto aud = claims.find("aud");
  if (aud == claims.end()) return "aud is missing";
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
  const auto sub = TextClaim(jwt.claims.Value(), "sub", kUuidChars);
  return sub ? base::Uuid::Parse(*sub) : std::nullopt;
}

std::variant<Assertion, JwtFault> ValidateAssertion(const Jwt& jwt, const base::Uuid& client_id,
                                                    const AssertionRules& rules,
                                                    base::Timestamp now) {
  if (!jwt.typ.empty() && jwt.typ != "jwt" && jwt.typ != kStrictType) {
    return JwtFault{"typ must be JWT or client-authentication+jwt"};
  }
  const std::string id = client_id.ToString();
  for (const char* name : {"iss", "sub"}) {
    if (TextClaim(jwt.claims.Value(), name, kUuidChars) != id) {
      return JwtFault{std::string(name) + " must be the client's id"};
    }
  }
  if (auto wrong = AudienceFault(jwt, rules)) return JwtFault{std::move(*wrong)};
  const auto expires_at = CheckTimes(jwt.claims.Value(), rules.times, now);
  if (const auto* fault = std::get_if<JwtFault>(&expires_at)) return *fault;
  auto jti = TextClaim(jwt.claims.Value(), "jti", kJtiBytesMax);
  if (!jti) return JwtFault{"jti must be a text of 1 to 255 bytes"};
  return Assertion{std::move(*jti), std::get<base::Timestamp>(expires_at) + rules.times.skew};
}

namespace {

constexpr std::size_t kClaimBytesMax = 255;

// The value of the claim of this name; null where there is none.
const base::Json* ValueOf(const base::Json& claims, const std::string& name) {
  if (!name.starts_with('/')) {
    const auto it = claims.find(name);
    return it == claims.end() ? nullptr : &*it;
  }
  try {
    const base::Json::json_pointer pointer(name);
    return claims.contains(pointer) ? &claims.at(pointer) : nullptr;
  } catch (const base::Json::exception&) {  // the pointer is none, or leads nowhere
    return nullptr;
  }
}

bool IsClaimText(const base::Json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= kClaimBytesMax;
}

// The claim of this name as text of 1 to kClaimBytesMax bytes.
std::optional<std::string> Find(const base::Json& claims, const std::string& name) {
  const base::Json* value = ValueOf(claims, name);
  if (value == nullptr || !IsClaimText(*value)) return std::nullopt;
  return value->get<std::string>();
}

// The texts of a claim that is one or a list of them. What is none is passed over.
std::vector<std::string> FindAll(const base::Json& claims, const std::string& name) {
  std::vector<std::string> texts;
  const base::Json* value = ValueOf(claims, name);
  if (value == nullptr) return texts;
  if (IsClaimText(*value)) texts.push_back(value->get<std::string>());
  if (!value->is_array()) return texts;
  for (const base::Json& one : *value) {
    if (IsClaimText(one)) texts.push_back(one.get<std::string>());
  }
  return texts;
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
  const base::Json& claims = jwt.claims.Value();
  // An ID token says who logged in to some application; it lets nobody in here.
  for (const char* name : {"nonce", "at_hash", "c_hash"}) {
    if (claims.contains(name)) return JwtFault{"this is an ID token"};
  }
  const auto issuer = claims.find("iss");
  if (issuer == claims.end() || *issuer != rules.issuer) return JwtFault{"iss is another"};
  if (!Names(claims, rules.audience)) return JwtFault{"aud does not name this API"};
  const auto expires_at = CheckTimes(claims, rules.times, now);
  if (const auto* fault = std::get_if<JwtFault>(&expires_at)) return *fault;
  ExternalToken token;
  auto subject = Find(claims, rules.user_claim);
  if (!subject) return JwtFault{"the claim of the user is no text of 1 to 255 bytes"};
  token.subject = std::move(*subject);
  if (!rules.org_claim.empty()) {
    token.organisation = Find(claims, rules.org_claim).value_or("");
  }
  if (!rules.team_claim.empty()) {
    token.team = Find(claims, rules.team_claim);
    if (!token.team) return JwtFault{"the claim of the team is no text of 1 to 255 bytes"};
  }
  return token;
}

std::variant<IdToken, JwtFault> ReadIdToken(const Jwt& jwt, const ExternalTokenRules& rules,
                                            std::string_view nonce, base::Timestamp now) {
  const auto& algorithms = rules.algorithms;
  if (std::find(algorithms.begin(), algorithms.end(), jwt.algorithm) == algorithms.end()) {
    return JwtFault{"alg is none of [oidc] algorithms"};
  }
  const base::Json& claims = jwt.claims.Value();
  if (TextClaim(claims, "iss", kJwtBytesMax) != rules.issuer) return JwtFault{"iss is another"};
  // No other client may be named: a token for it could be brought by it.
  const auto audience = claims.find("aud");
  const bool own = audience != claims.end() &&
                   (*audience == rules.audience || (audience->is_array() && audience->size() == 1 &&
                                                    audience->front() == rules.audience));
  if (!own) return JwtFault{"aud does not name this client alone"};
  if (claims.contains("azp") && TextClaim(claims, "azp", kJwtBytesMax) != rules.audience) {
    return JwtFault{"azp is another client"};
  }
  const auto expires_at = CheckTimes(claims, rules.times, now);
  if (const auto* fault = std::get_if<JwtFault>(&expires_at)) return *fault;
  const std::string said = TextClaim(claims, "nonce", kJwtBytesMax).value_or("");
  if (nonce.empty() || !base::ConstantTimeEqual(said, nonce)) {
    return JwtFault{"nonce is of another sign-in"};
  }
  auto email = TextClaim(claims, "email", kEmailBytesMax);
  const auto verified = claims.find("email_verified");
  if (!email || email->find('@') == std::string::npos) return JwtFault{"email is no address"};
  if (verified == claims.end() || *verified != true) {
    return JwtFault{"email_verified is not true"};
  }
  IdToken token{.email = base::AsciiLower(*email)};
  token.subject = Find(claims, "sub").value_or("");
  if (!rules.role_claim.empty()) token.roles = FindAll(claims, rules.role_claim);
  if (!rules.org_claim.empty()) token.organisation = Find(claims, rules.org_claim);
  if (!rules.team_claim.empty()) token.team = Find(claims, rules.team_claim);
  return token;
}

base::Uuid ExternalPrincipal(std::string_view issuer, std::string_view subject) {
  return base::Uuid::V5(base::Uuid::V5(base::Uuid{}, issuer), subject);
}

}  // namespace vedette::domain
