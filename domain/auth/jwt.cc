#include "domain/auth/jwt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/base64url.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

// Members of one object, and values of one part: far more than any issuer writes.
constexpr int kMembersMax = 128;
constexpr std::size_t kValuesMax = 512;
constexpr std::size_t kKidBytesMax = 255;
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
  if (text->starts_with("\xef\xbb\xbf")) return "begins with a byte order mark";
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
  if (const auto wrong = ReadPart(text.substr(first + 1, second - first - 1), &jwt.claims)) {
    return JwtFault{"the claims: " + *wrong};
  }
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

std::variant<base::Timestamp, JwtFault> JudgeTimes(const base::Json& claims, const TimeRules& rules,
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

}  // namespace vedette::domain
