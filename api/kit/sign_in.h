#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/kit/answer.h"
#include "api/kit/reply.h"
#include "api/kit/router.h"
#include "base/clock.h"
#include "config/config_fwd.h"
#include "domain/auth/jwk_set.h"
#include "domain/auth/jwt.h"
#include "net/http_server.h"
#include "store/accounts/sign_in.h"
#include "store/session.h"

// Signing in with a browser, at either port: cookies, and OpenID Connect's flow with a code, with
// PKCE.
//
//   our page ──POST──▶ a secret in a cookie, its digest stored ──▶ the provider's page
//                                                                     │ code, state
//   our page ◀── the session's cookie ◀── ID token ◀── code, verifier ┘
//
// The state, the nonce and PKCE's verifier are made from the secret, so that an answer counts only
// in the browser that has asked, once, and for ten minutes.
namespace vedette::rest {

class BodyReader;

// The value of a cookie; empty where there is none, or where there are two.
std::string_view CookieOf(const net::ServerRequest& request, std::string_view name);
// A cookie of our own pages, gone with its life. `same_site`: "Strict", or "Lax" for one that comes
// back with a visitor whom another site has sent.
Header SetCookie(std::string_view name, std::string_view value, std::chrono::seconds life,
                 std::string_view same_site = "Strict");

// The header that a request with a session's cookie shows where it changes something. Another
// site's page cannot read the session's token, from which it is made, and cannot set the header.
inline constexpr std::string_view kCsrfHeader = "x-csrf-token";
std::string CsrfTokenOf(std::string_view session_token);
// Whether the request shows it, or needs not.
bool IsOfOwnPage(const net::ServerRequest& request, std::string_view session_token);

// The member `email` of a body, lower case, as people are known by it. Only valid without problems.
std::string ReadAddress(BodyReader* body);

// Another site's page must not sign its visitor in with an account of its own choice: a 403. `who`
// signs in.
void CheckSameSite(const net::ServerRequest& request, std::string_view who);
// Counts a try of `what` ("sign-in") before anything is looked up, so that a refusal says nothing
// of who exists; a 429. Without an address it counts for the remote address alone, so that no
// stranger uses up others' tries.
void CountTry(store::Session& session, std::string_view what, const std::string& remote_address,
              std::string_view email = {});

// The keys of an identity provider of the operator's, which the process fetches and keeps. Built by
// app; every method on any thread.
class ProviderKeys {
 public:
  // What is known at one moment. Immutable.
  struct View {
    std::shared_ptr<const std::vector<domain::SetKey>> keys;  // null before the first fetch
    domain::KeyCache cache;
    base::Timestamp now;  // by the clock that the cache's times are of
    // Null before the first fetch, and where the provider has none.
    std::shared_ptr<const domain::SignInEndpoints> endpoints{};
  };
  // What the provider gave for a code.
  struct Redeemed {
    std::string body;   // of a 200
    std::string error;  // a sentence for the log, where there was none
  };

  virtual ~ProviderKeys() = default;
  virtual View Now() const = 0;

  // Begins a fetch if the last one was begun long enough ago, or joins the one that is under way.
  // `then` runs exactly once, on any thread: once that fetch has ended, or soon where there is
  // none.
  virtual void Fetch(std::function<void()> then) = 0;

  // Sends the form, which has the code of a sign-in, to the provider's token endpoint. `done` runs
  // exactly once, on any thread, within the timeout of a fetch and a little.
  virtual void Redeem(std::string form, std::function<void(Redeemed)> done) = 0;
};

// What has to happen before a token can be validated.
enum class KeysWanted {
  kFetch,  // its key is not known here: fetch, or wait for the fetch that is under way
  kNone,   // there are no keys to verify by, and there will be none soon
};

// Whether a key of the provider verifies the token: nothing where one does. Pure.
std::variant<std::monostate, domain::JwtFault, KeysWanted> VerifyByProvider(
    const domain::Jwt& jwt, const config::JwksConfig& jwks, const ProviderKeys::View& keys);

// The verdict on a token: what `read` makes of its claims, where its signature is the provider's.
// The claims come first: what is refused whatever its key is causes no fetch. A token that a known
// key verifies never waits for a fetch; the keys are renewed beside it. Pure.
template <typename Verdict, typename Read>
Verdict ValidateToken(std::string_view text, const config::JwksConfig& jwks,
                      const ProviderKeys::View& keys, Read read) {
  const auto parsed = domain::ParseJwt(text);
  if (const auto* fault = std::get_if<domain::JwtFault>(&parsed)) return *fault;
  const auto& jwt = std::get<domain::Jwt>(parsed);
  auto token = read(jwt);
  if (auto* fault = std::get_if<domain::JwtFault>(&token)) return std::move(*fault);
  auto verified = VerifyByProvider(jwt, jwks, keys);
  if (auto* fault = std::get_if<domain::JwtFault>(&verified)) return std::move(*fault);
  if (const auto* wanted = std::get_if<KeysWanted>(&verified)) return *wanted;
  return std::get<0>(std::move(token));
}

// What people call the provider: its host.
std::string ProviderName(std::string_view issuer);

// What a port is to its identity provider: one client, by which people sign in. What it refers to
// outlives every request.
struct ProviderClient {
  domain::ExternalTokenRules rules;  // of ID tokens: `audience` is the client's id
  std::string client_secret;         // empty: a public client
  std::string redirect_uri;          // where the provider sends browsers back to
  std::string scope;                 // that is asked for
  std::string_view cookie;           // of a sign-in that is under way
  store::OneTimePurpose purpose;     // likewise
  ProviderKeys& keys;
  const config::JwksConfig& jwks;
};

// Why a sign-in lets nobody in: by its name for a page, which says it to people, and a sentence for
// the log, with nothing personal in it.
struct SignInFault {
  std::string_view what;
  std::string reason;
};
inline constexpr std::string_view kExpired = "expired";  // another browser's, used, or too old
inline constexpr std::string_view kRefused =
    "refused";  // by the provider, or what it said is wrong
inline constexpr std::string_view kUnavailable = "unavailable";  // the provider

// For whom the provider has vouched, and what his sign-in was bound to.
struct SignedIn {
  domain::IdToken token;
  store::Binding binding;
};
using SignInEnd = std::variant<SignedIn, SignInFault>;

// Begins a sign-in: 200 with the `url` of the provider's page, and the cookie; 503 where the
// provider was never reached.
Reply BeginSignIn(const ProviderClient& client, store::Session& session,
                  const store::Binding& binding);

// Back to a page of our own. The code in the address goes nowhere, and is kept nowhere.
Reply LeaveSignIn(const ProviderClient& client, const std::string& page);

// A sign-in whose answer has come: the form that redeems its code, and what its ID token must say.
struct SignInAnswer {
  std::string form;
  std::string nonce;
  store::Binding binding;
  std::string id_token{};
  bool keys_fetched = false;
};
// Takes the answer that a request brings back; it works once.
std::variant<SignInAnswer, SignInFault> TakeSignInAnswer(const ProviderClient& client,
                                                         store::Session& session,
                                                         const net::ServerRequest& request);
// Reads what the provider gave for the code into `answer`; the fault where that is nothing good.
std::optional<SignInFault> ReadRedeemed(const ProviderKeys::Redeemed& redeemed,
                                        SignInAnswer* answer);
// The verdict on the answer's ID token.
std::variant<domain::IdToken, domain::JwtFault, KeysWanted> ValidateIdToken(
    const SignInAnswer& answer, const ProviderClient& client, const ProviderKeys::View& keys,
    base::Timestamp now);

// A sign-in on its way through the provider; `end` answers it. One thread at a time.
template <typename Call>
struct SignInUnderWay {
  ProviderClient client;
  SignInAnswer answer;
  std::function<Handled(Call&, const SignInEnd&)> end;
};

template <typename Call>
Handled ValidateSignIn(Call& call, const std::shared_ptr<SignInUnderWay<Call>>& sign_in) {
  ProviderKeys& keys = sign_in->client.keys;
  auto verdict =
      ValidateIdToken(sign_in->answer, sign_in->client, keys.Now(), call.parts.clock.Now());
  if (auto* fault = std::get_if<domain::JwtFault>(&verdict)) {
    return sign_in->end(call, SignInFault{kRefused, std::move(fault->reason)});
  }
  if (const auto* wanted = std::get_if<KeysWanted>(&verdict)) {
    if (*wanted == KeysWanted::kNone || std::exchange(sign_in->answer.keys_fetched, true)) {
      return sign_in->end(call,
                          SignInFault{kUnavailable, "the identity provider's keys are not there"});
    }
    keys.Fetch([later = call.On(nullptr), sign_in] {
      ServeLater<Call>(later.parts.pool, std::nullopt, later,
                       [sign_in](Call& again) { return ValidateSignIn(again, sign_in); });
    });
    return Parked{};
  }
  return sign_in->end(
      call, SignedIn{std::get<domain::IdToken>(std::move(verdict)), sign_in->answer.binding});
}

// Ends the sign-in that the request brings back from the provider. `end` runs once, on a thread of
// the pool, now or later.
template <typename Call>
Handled FinishSignIn(Call& call, ProviderClient client,
                     std::function<Handled(Call&, const SignInEnd&)> end) {
  auto answer = TakeSignInAnswer(client, call.session(), call.request());
  if (auto* fault = std::get_if<SignInFault>(&answer)) return end(call, std::move(*fault));
  const auto sign_in = std::make_shared<SignInUnderWay<Call>>(SignInUnderWay<Call>{
      std::move(client), std::get<SignInAnswer>(std::move(answer)), std::move(end)});
  sign_in->client.keys.Redeem(
      sign_in->answer.form, [later = call.On(nullptr), sign_in](ProviderKeys::Redeemed redeemed) {
        ServeLater<Call>(later.parts.pool, std::nullopt, later,
                         [sign_in, redeemed = std::move(redeemed)](Call& again) -> Handled {
                           if (auto fault = ReadRedeemed(redeemed, &sign_in->answer)) {
                             return sign_in->end(again, std::move(*fault));
                           }
                           return ValidateSignIn(again, sign_in);
                         });
      });
  return Parked{};
}

}  // namespace vedette::rest
