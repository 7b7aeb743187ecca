#include "api/tenant/credentials.h"

#include "base/text.h"
#include "domain/auth/jwt.h"
#include "store/accounts/accounts.h"
#include "store/accounts/auth.h"

namespace vedette::api {
namespace {

constexpr std::string_view kBearer = "bearer";

// What a header says, and how often it stands there without being empty.
struct Found {
  std::string_view value;
  int count = 0;
};
Found FindHeader(const net::ServerRequest& request, std::string_view name) {
  Found found;
  for (const auto& [header, value] : request.headers) {
    const std::string_view trimmed = base::Trim(value, base::kBlankSpace);
    if (header != name || trimmed.empty()) continue;
    if (found.count++ == 0) found.value = trimmed;
  }
  return found;
}

// What stands after "Bearer"; nothing for another scheme.
std::optional<std::string_view> BearerOf(std::string_view authorization) {
  const std::string_view scheme = authorization.substr(0, authorization.find(' '));
  if (!base::EqualsIgnoringAsciiCase(scheme, kBearer)) return std::nullopt;
  return base::Trim(authorization.substr(scheme.size()), base::kBlankSpace);
}

bool IsTokenText(std::string_view text) {
  return text.starts_with(store::kClientTokenPrefix) ||
         text.starts_with(store::kSessionTokenPrefix);
}

// The session's token in the cookies of a request; empty where there is none of good form.
std::string_view SessionOf(const net::ServerRequest& request) {
  const std::string_view found = CookieOf(request, kSessionCookie);
  const bool good = found.starts_with(store::kSessionTokenPrefix) && store::IsToken(found);
  return good ? found : std::string_view();
}

std::variant<Credential, CredentialFault> CookieCredential(const net::ServerRequest& request) {
  const std::string_view session = SessionOf(request);
  if (session.empty()) return CredentialFault::kMissing;
  if (!rest::IsOfOwnPage(request, session)) return CredentialFault::kNoCsrfToken;
  return Credential{Credential::Kind::kToken, session, true};
}

}  // namespace

std::variant<Credential, CredentialFault> FindCredential(const net::ServerRequest& request) {
  const Found key = FindHeader(request, "x-api-key");
  const Found authorization = FindHeader(request, "authorization");
  if (key.count > 1 || authorization.count > 1) return CredentialFault::kRepeatedHeader;
  const auto bearer = BearerOf(authorization.value);
  if (key.count == 1) {
    if (bearer) return CredentialFault::kTwoCredentials;
    if (store::IsApiKey(key.value)) return Credential{Credential::Kind::kApiKey, key.value};
    return IsTokenText(key.value) ? CredentialFault::kTokenAsKey : CredentialFault::kBadKey;
  }
  if (!bearer) return CookieCredential(request);
  if (store::IsToken(*bearer)) return Credential{Credential::Kind::kToken, *bearer};
  if (bearer->starts_with(store::kApiKeyPrefix)) return CredentialFault::kKeyAsToken;
  if (domain::LooksLikeJwt(*bearer)) return Credential{Credential::Kind::kJwt, *bearer};
  return CredentialFault::kBadToken;
}

std::optional<std::string_view> ForwardedUser(const net::ServerRequest& request) {
  const Found user = FindHeader(request, "service-forwarded-user");
  if (user.count == 0) return std::nullopt;
  // The database takes no other text. Nobody has the empty id.
  return user.count == 1 && base::IsValidUtf8(user.value) ? user.value : std::string_view();
}

}  // namespace vedette::api
