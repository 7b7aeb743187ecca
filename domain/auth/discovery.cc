#include "domain/auth/discovery.h"

#include <optional>
#include <utility>

namespace vedette::domain {
namespace {

constexpr std::size_t kUrlBytesMax = 2083;
// Far more than any provider's document has.
constexpr base::JsonLimits kLimits{
    .depth_max = 8, .members_max = 256, .values_max = 4096, .unique_members = true};

}  // namespace

std::string DiscoveryUrl(std::string_view issuer) {
  if (issuer.ends_with('/')) issuer.remove_suffix(1);
  return std::string(issuer) + "/.well-known/openid-configuration";
}

std::variant<std::string, JwtFault> ReadDiscovery(std::string_view text, std::string_view issuer) {
  base::Json document;
  if (const auto error = base::ParseJson(text, &document, kLimits)) {
    return JwtFault{"the discovery document: " + error->message};
  }
  if (!document.is_object()) return JwtFault{"the discovery document is no object"};
  if (TextClaim(document, "issuer", kUrlBytesMax) != issuer) {
    return JwtFault{"the discovery document names another issuer than [oidc] issuer"};
  }
  auto url = TextClaim(document, "jwks_uri", kUrlBytesMax);
  if (!url) return JwtFault{"the discovery document has no jwks_uri"};
  const bool plain = issuer.starts_with("http://") && url->starts_with("http://");
  if (!plain && !url->starts_with("https://")) return JwtFault{"the jwks_uri is not https"};
  return std::move(*url);
}

}  // namespace vedette::domain
