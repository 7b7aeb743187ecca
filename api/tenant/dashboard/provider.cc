// Signing in by the operator's identity provider: OpenID Connect's flow with a code, with PKCE.
//
//   our page ──POST──▶ a secret in a cookie, its digest stored ──▶ the provider's page
//                                                                     │ code, state
//   our page ◀── the session's cookie ◀── ID token ◀── code, verifier ┘
//
// The state, the nonce and PKCE's verifier are made from the secret, so that an answer counts only
// in the browser that has asked, once, and for ten minutes.
#include <utility>

#include <fmt/format.h>

#include "api/kit/api_keys.h"
#include "api/kit/query_reader.h"
#include "api/tenant/authenticate.h"
#include "api/tenant/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/auth/cell.h"
#include "store/accounts/auth.h"

namespace vedette::api {
namespace {

using Purpose = store::OneTimePurpose;

constexpr std::string_view kProviderCookie = "__Host-vedette-provider";
constexpr std::chrono::minutes kProviderLife{10};
constexpr std::string_view kCallbackPath = "/dashboard/provider/callback";
constexpr std::size_t kCodeBytesMax = 4096;

// What becomes of a sign-in that fails: a page says it by its name.
constexpr std::string_view kExpired = "expired";  // another browser's, used, or too old
constexpr std::string_view kRefused = "refused";  // by the provider, or what it said is wrong
constexpr std::string_view kUnavailable = "unavailable";  // the provider
constexpr std::string_view kUnknown = "unknown";          // a member of no organisation
constexpr std::string_view kInvitation = "invitation";    // is used, or is for another address

std::string Derived(std::string_view secret, std::string_view what) {
  return base::HexEncode(base::HmacSha256(secret, what));
}

std::string FormText(const std::vector<std::pair<std::string_view, std::string>>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (!text.empty()) text += '&';
    text.append(name).append("=");
    for (const char c : value) {
      const bool plain = base::IsAsciiDigit(c) || base::IsAsciiLetter(c) ||
                         std::string_view("-._~").find(c) != std::string_view::npos;
      text += plain ? std::string(1, c)
                    : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

const config::OidcConfig& CheckProvider(const Call& call) {
  CheckDashboard(call);
  const config::OidcConfig& oidc = call.parts.config.oidc;
  if (!oidc.client_id.empty()) return oidc;
  throw rest::Refusal(rest::NoSuchPath(call.request().path, "[oidc] client_id is empty"));
}

// The address to which the provider sends the browser back. It names the cell, as a router has
// nothing else to go by.
std::string RedirectUri(const Call& call) {
  const std::string& cell = call.parts.config.cell.id;
  std::string uri = call.parts.config.public_url + std::string(kCallbackPath);
  if (!cell.empty()) uri += fmt::format("?{}={}", domain::kCellParameter, cell);
  return uri;
}

// Back to our own pages. The code in the address goes nowhere, and is kept nowhere.
rest::Reply GoTo(const Call& call, const std::string& place) {
  const std::string page = rest::DashboardLink("", call.parts.config.cell.id, place);
  rest::Reply reply{303, {}, {{"Location", page}}};
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.push_back(SetCookie(kProviderCookie, "", std::chrono::seconds(0), "Lax"));
  return reply;
}

rest::Reply Sorry(const Call& call, std::string_view what, std::string_view reason) {
  call.parts.log.Info("a sign-in by the identity provider was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", std::string(reason)}});
  return GoTo(call, "#/sorry/" + std::string(what));
}

// One sign-in whose code was redeemed.
struct Attempt {
  std::string nonce;
  std::optional<std::string> invitation_sha256;
  std::string id_token;
  bool keys_fetched = false;
};

rest::Reply Enter(Call& call, const std::string& email, const base::Uuid& org_id) {
  const auto made = MakeSession(call, email, org_id);
  if (made.kind != store::SessionOutcome::Kind::kDone) {
    return Sorry(call, kUnknown, "he is no member any more");
  }
  rest::Reply reply = GoTo(call, "");
  reply.headers.push_back(SessionCookie(made.token));
  return reply;
}

// Lets the person in for whose address the provider has vouched: by the invitation that he has come
// with, as a member whom the token names, or as one that he is.
rest::Reply Admit(Call& call, const domain::IdToken& token, const Attempt& attempt) {
  const std::string& email = token.email;
  if (attempt.invitation_sha256) {
    const auto found = store::FindInvitationBy(call.session(), *attempt.invitation_sha256);
    if (!found || found->email != email) {
      return Sorry(call, kInvitation, "the invitation is gone, or for another address");
    }
    const bool taken =
        store::AcceptInvitation(call.session(), call.parts.clock, *attempt.invitation_sha256,
                                {.password = std::nullopt,
                                 .passkey = std::nullopt,
                                 .own_passkey = false,
                                 .by_provider = true},
                                AuditOfMember(call, found->org_id, email, "invitation.accept"));
    if (!taken) return Sorry(call, kInvitation, "the invitation was used meanwhile");
    return Enter(call, email, found->org_id);
  }
  if (token.organisation) {
    const auto team_id = token.team ? base::Uuid::Parse(*token.team) : std::nullopt;
    if (token.team.has_value() == team_id.has_value()) {
      store::ClaimMembership(call.session(), call.parts.clock, email, *token.organisation, team_id,
                             AuditOfMember(call, base::Uuid{}, email, "member.claim"));
    }
  }
  const auto all = store::FindPerson(call.session(), email).memberships;
  if (all.empty()) return Sorry(call, kUnknown, "the address is a member's of no organisation");
  if (all.size() == 1) return Enter(call, email, all.front().org_id);
  rest::Reply reply = GoTo(call, "#/choose");
  reply.headers.push_back(OfferChoice(call, email, Purpose::kProviderChoice));
  return reply;
}

rest::Handled JudgeAttempt(Call& call, const std::shared_ptr<Attempt>& attempt) {
  const auto verdict = JudgeIdToken(attempt->id_token, attempt->nonce, call.parts.config,
                                    call.parts.provider_keys.Now(), call.parts.clock.Now());
  if (const auto* fault = std::get_if<domain::JwtFault>(&verdict)) {
    return Sorry(call, kRefused, fault->reason);
  }
  if (const auto* wanted = std::get_if<KeysWanted>(&verdict)) {
    if (*wanted == KeysWanted::kNone || attempt->keys_fetched) {
      return Sorry(call, kUnavailable, "the identity provider's keys are not there");
    }
    attempt->keys_fetched = true;
    call.parts.provider_keys.Fetch([later = call.On(nullptr), attempt] {
      rest::ServeLater<Call>(later.parts.pool, std::nullopt, later,
                             [attempt](Call& again) { return JudgeAttempt(again, attempt); });
    });
    return rest::Parked{};
  }
  return Admit(call, std::get<domain::IdToken>(verdict), *attempt);
}

// Reads what the provider gave for the code.
rest::Handled ReadRedeemed(Call& call, const std::shared_ptr<Attempt>& attempt,
                           const ProviderKeys::Redeemed& redeemed) {
  if (!redeemed.error.empty()) return Sorry(call, kUnavailable, redeemed.error);
  base::Json answer;
  if (base::ParseJson(redeemed.body, &answer, {.depth_max = 8, .members_max = 64})) {
    return Sorry(call, kRefused, "the provider's answer to the code is no JSON");
  }
  attempt->id_token = base::TextMember(answer, "id_token");
  return JudgeAttempt(call, attempt);
}

}  // namespace

rest::Handled StartProviderSignIn(Call& call) {
  const config::OidcConfig& oidc = CheckProvider(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto invitation = body.Text("invitation", rest::Presence::kOptional, 1, kLinkTokenCharsMax);
  body.Check();
  CountTry(call);
  const auto endpoints = call.parts.provider_keys.Now().endpoints;
  if (!endpoints) return rest::Unavailable("the identity provider cannot be reached");
  const std::string secret = base::RandomBase62(store::kTokenRandomChars);
  store::Binding binding;
  if (invitation) binding.invitation_sha256 = base::Sha256(*invitation);
  store::PutOneTimeSecret(call.session(), Purpose::kProvider, secret, kProviderLife, binding);
  const std::string& url = endpoints->authorization;
  const std::string query = FormText(
      {{"response_type", "code"},
       {"client_id", oidc.client_id},
       {"redirect_uri", RedirectUri(call)},
       {"scope", "openid email"},
       {"state", Derived(secret, "state")},
       {"nonce", Derived(secret, "nonce")},
       {"code_challenge", base::Base64UrlEncode(base::Sha256(Derived(secret, "verifier")))},
       {"code_challenge_method", "S256"}});
  const char* mark = url.find('?') == std::string::npos ? "?" : "&";
  rest::Reply reply = rest::JsonReply(200, {{"url", url + mark + query}});
  // The provider sends the browser back from another site: a strict cookie would not come.
  reply.headers.push_back(SetCookie(kProviderCookie, secret, kProviderLife, "Lax"));
  return reply;
}

rest::Handled FinishProviderSignIn(Call& call) {
  const config::OidcConfig& oidc = CheckProvider(call);
  rest::Problems ignored;
  const rest::QueryReader query(call.request().query, &ignored);
  const std::string secret(CookieOf(call.request(), kProviderCookie));
  const std::string code = query.Text("code").value_or("");
  CountTry(call);
  if (secret.empty() ||
      !base::ConstantTimeEqual(query.Text("state").value_or(""), Derived(secret, "state"))) {
    return Sorry(call, kExpired, "the state is not this browser's");
  }
  const auto binding = store::TakeOneTimeSecret(call.session(), Purpose::kProvider, secret);
  if (!binding) return Sorry(call, kExpired, "the state was used, or is too old");
  if (query.Text("iss").value_or(oidc.issuer) != oidc.issuer) {
    return Sorry(call, kRefused, "the answer is another provider's");
  }
  if (code.empty() || code.size() > kCodeBytesMax) {
    return Sorry(call, kRefused, "the provider gave no code");
  }
  std::vector<std::pair<std::string_view, std::string>> form{
      {"grant_type", "authorization_code"},
      {"code", code},
      {"redirect_uri", RedirectUri(call)},
      {"client_id", oidc.client_id},
      {"code_verifier", Derived(secret, "verifier")}};
  if (!oidc.client_secret.empty()) form.emplace_back("client_secret", oidc.client_secret);
  const auto attempt = std::make_shared<Attempt>(
      Attempt{Derived(secret, "nonce"), binding->invitation_sha256, {}, false});
  call.parts.provider_keys.Redeem(
      FormText(form), [later = call.On(nullptr), attempt](ProviderKeys::Redeemed redeemed) {
        rest::ServeLater<Call>(later.parts.pool, std::nullopt, later,
                               [attempt, redeemed = std::move(redeemed)](Call& again) {
                                 return ReadRedeemed(again, attempt, redeemed);
                               });
      });
  return rest::Parked{};
}

}  // namespace vedette::api
