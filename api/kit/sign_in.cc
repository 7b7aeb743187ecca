#include "api/kit/sign_in.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/query_reader.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "domain/auth/principal.h"
#include "store/accounts/auth.h"

namespace vedette::rest {
namespace {

constexpr std::chrono::minutes kSignInLife{10};
constexpr std::size_t kCodeBytesMax = 4096;
// Tries in a minute: for one address, also for one that nobody has, and from one remote address.
constexpr std::int64_t kTriesOfAddressMax = 10;
constexpr std::int64_t kTriesFromMax = 60;

std::string Derived(std::string_view secret, std::string_view what) {
  return base::HexEncode(base::HmacSha256(secret, what));
}

std::string FormText(const std::vector<std::pair<std::string_view, std::string>>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(base::UrlEncode(value));
  }
  return text;
}

}  // namespace

std::string_view CookieOf(const net::ServerRequest& request, std::string_view name) {
  std::string_view found;
  for (const auto& [header, value] : request.headers) {
    if (header != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      const std::string_view cookie = base::Trim(pair, base::kBlankSpace);
      if (!cookie.starts_with(name)) continue;
      const std::string_view behind = cookie.substr(name.size());
      if (!behind.starts_with('=')) continue;
      if (!found.empty()) return {};
      found = behind.substr(1);
    }
  }
  return found;
}

Header SetCookie(std::string_view name, std::string_view value, std::chrono::seconds life,
                 std::string_view same_site) {
  return {"Set-Cookie", fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; Secure; SameSite={}",
                                    name, value, life.count(), same_site)};
}

std::string CsrfTokenOf(std::string_view session_token) {
  return base::HexEncode(base::HmacSha256(session_token, "csrf"));
}

bool IsOfOwnPage(const net::ServerRequest& request, std::string_view session_token) {
  if (request.method == "GET" || request.method == "HEAD") return true;
  return base::ConstantTimeEqual(request.Header(kCsrfHeader), CsrfTokenOf(session_token));
}

// Browsers say from where a request comes, and nothing else does.
std::string ReadAddress(BodyReader* body) {
  constexpr std::size_t kCharsMax = 200;
  std::string email = base::AsciiLower(
      body->FilledText("email", Presence::kRequired, kCharsMax).value_or(std::string()));
  const auto at = email.find('@');
  const bool good = at != std::string::npos && at > 0 && at + 1 < email.size() &&
                    email.find_first_of(" \t\r\n<>") == std::string::npos;
  if (!email.empty() && !good) body->Refuse("email", "Input should be an e-mail address");
  return email;
}

void CheckSameSite(const net::ServerRequest& request, std::string_view who) {
  const std::string_view from = request.Header("sec-fetch-site");
  if (from.empty() || from == "same-origin" || from == "none") return;
  throw Refusal(403, "cross_site", fmt::format("{} signs in from its own pages alone", who));
}

void CountTry(store::Session& session, std::string_view what, const std::string& remote_address,
              std::string_view email) {
  const base::Uuid nobody{};
  const auto count = [&](const std::string& tried) {
    return store::CountRequest(session, domain::UserPrincipal(nobody, tried)).requests;
  };
  const auto of_address = email.empty() ? 0 : count(fmt::format("{} of {}", what, email));
  const auto from = count(fmt::format("{} from {}", what, remote_address));
  if (of_address <= kTriesOfAddressMax && from <= kTriesFromMax) return;
  Reply reply = ErrorReply(429, "rate_limited", "too many tries to sign in: wait for a minute");
  reply.headers.emplace_back("Retry-After", "60");
  throw Refusal(std::move(reply));
}

std::variant<std::monostate, domain::JwtFault, KeysWanted> VerifyByProvider(
    const domain::Jwt& jwt, const config::JwksConfig& jwks, const ProviderKeys::View& keys) {
  const bool verified = keys.keys && domain::VerifiedByOne(*keys.keys, jwt);
  // Here keys are fresh as long as they serve at all: a timer renews them, not the requests.
  const domain::FetchRules rules{
      .fresh = jwks.stale_max_ms, .retry = jwks.retry_ms, .stale_max = jwks.stale_max_ms};
  switch (domain::WhenToFetch(keys.cache, verified, rules, keys.now)) {
    case domain::FetchDecision::kUse:
    case domain::FetchDecision::kUseStale:
      return {};
    case domain::FetchDecision::kFetch:
    case domain::FetchDecision::kWait:
      return KeysWanted::kFetch;
    case domain::FetchDecision::kNoKeys:
      return KeysWanted::kNone;
    case domain::FetchDecision::kRefuse:
      break;
  }
  return domain::JwtFault{"no key of the identity provider verifies the signature"};
}

std::string ProviderName(std::string_view issuer) {
  const std::string_view host = issuer.substr(issuer.find("://") + 3);
  return std::string(host.substr(0, host.find('/')));
}

Reply BeginSignIn(const ProviderClient& client, store::Session& session,
                  const store::Binding& binding) {
  const auto endpoints = client.keys.Now().endpoints;
  if (!endpoints) return Unavailable("the identity provider cannot be reached");
  const std::string secret = base::RandomBase62(store::kTokenRandomChars);
  store::PutOneTimeSecret(session, client.purpose, secret, kSignInLife, binding);
  const std::string& url = endpoints->authorization;
  const std::string query = FormText(
      {{"response_type", "code"},
       {"client_id", client.rules.audience},
       {"redirect_uri", client.redirect_uri},
       {"scope", client.scope},
       {"state", Derived(secret, "state")},
       {"nonce", Derived(secret, "nonce")},
       {"code_challenge", base::Base64UrlEncode(base::Sha256(Derived(secret, "verifier")))},
       {"code_challenge_method", "S256"}});
  const char* mark = url.find('?') == std::string::npos ? "?" : "&";
  Reply reply = JsonReply(200, {{"url", url + mark + query}});
  // The provider sends the browser back from another site: a strict cookie would not come.
  reply.headers.push_back(SetCookie(client.cookie, secret, kSignInLife, "Lax"));
  return reply;
}

Reply LeaveSignIn(const ProviderClient& client, const std::string& page) {
  Reply reply{303, {}, {{"Location", page}}};
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.push_back(SetCookie(client.cookie, "", std::chrono::seconds(0), "Lax"));
  return reply;
}

std::variant<SignInAnswer, SignInFault> TakeSignInAnswer(const ProviderClient& client,
                                                         store::Session& session,
                                                         const net::ServerRequest& request) {
  Problems ignored;
  const QueryReader query(request.query, &ignored);
  const std::string secret(CookieOf(request, client.cookie));
  const std::string code = query.Text("code").value_or("");
  if (secret.empty() ||
      !base::ConstantTimeEqual(query.Text("state").value_or(""), Derived(secret, "state"))) {
    return SignInFault{kExpired, "the state is not this browser's"};
  }
  auto binding = store::TakeOneTimeSecret(session, client.purpose, secret);
  if (!binding) return SignInFault{kExpired, "the state was used, or is too old"};
  if (query.Text("iss").value_or(client.rules.issuer) != client.rules.issuer) {
    return SignInFault{kRefused, "the answer is another provider's"};
  }
  if (code.empty() || code.size() > kCodeBytesMax) {
    return SignInFault{kRefused, "the provider gave no code"};
  }
  std::vector<std::pair<std::string_view, std::string>> form{
      {"grant_type", "authorization_code"},
      {"code", code},
      {"redirect_uri", client.redirect_uri},
      {"client_id", client.rules.audience},
      {"code_verifier", Derived(secret, "verifier")}};
  if (!client.client_secret.empty()) form.emplace_back("client_secret", client.client_secret);
  return SignInAnswer{FormText(form), Derived(secret, "nonce"), std::move(*binding)};
}

std::optional<SignInFault> ReadRedeemed(const ProviderKeys::Redeemed& redeemed,
                                        SignInAnswer* answer) {
  if (!redeemed.error.empty()) return SignInFault{kUnavailable, redeemed.error};
  base::Json body;
  if (base::ParseJson(redeemed.body, &body, {.depth_max = 8, .members_max = 64})) {
    return SignInFault{kRefused, "the provider's answer to the code is no JSON"};
  }
  answer->id_token = base::TextMember(body, "id_token");
  return std::nullopt;
}

std::variant<domain::IdToken, domain::JwtFault, KeysWanted> ValidateIdToken(
    const SignInAnswer& answer, const ProviderClient& client, const ProviderKeys::View& keys,
    base::Timestamp now) {
  using Verdict = std::variant<domain::IdToken, domain::JwtFault, KeysWanted>;
  return ValidateToken<Verdict>(answer.id_token, client.jwks, keys, [&](const domain::Jwt& jwt) {
    return domain::ReadIdToken(jwt, client.rules, answer.nonce, now);
  });
}

}  // namespace vedette::rest
