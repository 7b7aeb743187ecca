// Signing in at the console by the identity provider of [admin.oidc], and the sessions of those who
// have: a session is a token in a cookie, which counts where no bearer token is shown.
#include <algorithm>
#include <iterator>
#include <utility>

#include "api/kit/sign_in.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "base/key_pair.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "store/accounts/access_tokens.h"

namespace vedette::admin {
namespace {

constexpr std::string_view kSessionCookie = "__Host-vedette-console";
constexpr std::string_view kSignInCookie = "__Host-vedette-console-sign-in";
constexpr std::string_view kCallbackPath = "/console/callback";
// A working day. A role that the provider takes back meanwhile lasts until then.
constexpr std::chrono::hours kSessionLife{10};
constexpr std::chrono::hours kIdTokenLifeMax{24};
constexpr int kSessionsShown = 1000;
constexpr std::string_view kTried = "console sign-in";
// The sign-in of somebody who has no role here; the other ends are those of api/kit/sign_in.h.
constexpr std::string_view kNoRole = "no_role";

const std::vector<std::string>& ValuesFor(const config::AdminOidcConfig& oidc, Role role) {
  switch (role) {
    case Role::kViewer:
      return oidc.viewers;
    case Role::kOperator:
      return oidc.operators;
    case Role::kAdmin:
      break;
  }
  return oidc.admins;
}

// Those of the claim's values that give a role. No others are stored.
std::vector<std::string> ValuesThatCount(const config::AdminOidcConfig& oidc,
                                         const std::vector<std::string>& said) {
  std::vector<std::string> counting;
  std::copy_if(said.begin(), said.end(), std::back_inserter(counting),
               [&](const std::string& value) { return RoleOfValues(oidc, {value}).has_value(); });
  return counting;
}

// What the console is at its provider. Refuses where there is none.
rest::ProviderClient ClientOf(const Call& call) {
  const config::Config& config = call.parts.config;
  const config::AdminOidcConfig& oidc = config.admin_oidc;
  if (call.parts.provider_keys == nullptr) {
    throw rest::Refusal(rest::NoSuchPath(call.request().path, "[admin.oidc] issuer is empty"));
  }
  domain::ExternalTokenRules rules;
  rules.issuer = oidc.issuer;
  rules.audience = oidc.client_id;
  rules.role_claim = oidc.role_claim;
  using base::SignatureAlgorithm;
  rules.algorithms = {SignatureAlgorithm::kRs256, SignatureAlgorithm::kPs256,
                      SignatureAlgorithm::kEs256, SignatureAlgorithm::kEdDsa};
  rules.times = {.lifetime_max = kIdTokenLifeMax, .skew = config.oauth.clock_skew_s};
  return {.rules = std::move(rules),
          .client_secret = oidc.client_secret,
          .redirect_uri = oidc.public_url + std::string(kCallbackPath),
          .scope = oidc.scope,
          .cookie = kSignInCookie,
          .purpose = store::OneTimePurpose::kConsole,
          .keys = *call.parts.provider_keys,
          .jwks = config.jwks};
}

rest::Reply Sorry(const Call& call, const rest::SignInFault& fault) {
  call.parts.log.Info("a sign-in at the console was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", fault.reason}});
  return rest::LeaveSignIn(ClientOf(call), "/#/sorry/" + std::string(fault.what));
}

rest::Handled EndSignIn(Call& call, const rest::SignInEnd& end) {
  if (const auto* fault = std::get_if<rest::SignInFault>(&end)) return Sorry(call, *fault);
  const domain::IdToken& token = std::get<rest::SignedIn>(end).token;
  if (token.subject.empty()) return Sorry(call, {rest::kRefused, "sub is no text"});
  const config::AdminOidcConfig& oidc = call.parts.config.admin_oidc;
  const auto role = RoleOfValues(oidc, token.roles);
  if (!role) return Sorry(call, {kNoRole, "[admin.oidc] role_claim has no value that is a role"});
  call.caller = {.name = token.email, .role = *role};
  store::AuditEntry audit = AuditOf(call, "console.sign_in", std::nullopt);
  audit.detail =
      base::Json{{"issuer", oidc.issuer}, {"subject", token.subject}, {"role", RoleName(*role)}};
  const auto token_text =
      store::CreateConsoleSession(call.session(), call.parts.clock,
                                  {.issuer = oidc.issuer,
                                   .subject = token.subject,
                                   .email = token.email,
                                   .role_values = ValuesThatCount(oidc, token.roles),
                                   .ttl = kSessionLife},
                                  std::move(audit));
  rest::Reply reply = rest::LeaveSignIn(ClientOf(call), "/");
  reply.headers.push_back(rest::SetCookie(kSessionCookie, token_text, kSessionLife));
  return reply;
}

base::Json SessionJson(const Call& call, const store::ConsoleSession& one) {
  const auto role = RoleOfValues(call.parts.config.admin_oidc, one.role_values);
  return {{"id", one.id.ToString()},
          {"name", one.email},
          {"role", role ? base::Json(RoleName(*role)) : base::Json(nullptr)},
          {"created_at", base::FormatTimestamp(one.created_at)},
          {"expires_at", base::FormatTimestamp(one.expires_at)},
          {"current", call.caller.session && call.caller.session->id == one.id}};
}

}  // namespace

std::optional<Role> RoleOfValues(const config::AdminOidcConfig& oidc,
                                 const std::vector<std::string>& said) {
  for (const Role role : {Role::kAdmin, Role::kOperator, Role::kViewer}) {
    const auto& values = ValuesFor(oidc, role);
    if (std::find_first_of(said.begin(), said.end(), values.begin(), values.end()) != said.end()) {
      return role;
    }
  }
  return std::nullopt;
}

std::string_view ConsoleTokenOf(const net::ServerRequest& request) {
  const std::string_view token = rest::CookieOf(request, kSessionCookie);
  return store::IsConsoleToken(token) ? token : std::string_view();
}

rest::Reply NoCsrfToken() {
  return rest::ErrorReply(403, "csrf_token_missing",
                          "a change with the session's cookie needs the header X-CSRF-Token, with "
                          "what GET /admin/v1/me gives as csrf_token");
}

std::optional<Operator> CallerOfSession(const Dependencies& parts, store::Session& session,
                                        std::string_view token) {
  const auto found = store::FindConsoleSession(session, token);
  const config::AdminOidcConfig& oidc = parts.config.admin_oidc;
  if (!found || found->issuer != oidc.issuer) return std::nullopt;
  const auto role = RoleOfValues(oidc, found->role_values);
  if (!role) return std::nullopt;
  return Operator{found->email, *role,
                  OwnSession{found->id, rest::CsrfTokenOf(token), found->expires_at}};
}

// What the page needs to know before somebody has signed in.
rest::Handled GetConsoleSignIn(Call& call) {
  const bool offered = call.parts.provider_keys != nullptr;
  const std::string& issuer = call.parts.config.admin_oidc.issuer;
  return rest::JsonReply(
      200, {{"provider", offered ? base::Json(rest::ProviderName(issuer)) : base::Json(nullptr)},
            {"session", offered && !ConsoleTokenOf(call.request()).empty()}});
}

rest::Handled PostConsoleSignIn(Call& call) {
  const rest::ProviderClient client = ClientOf(call);
  rest::CheckSameSite(call.request(), "the console");
  rest::CountTry(call.session(), kTried, call.request().remote_address);
  return rest::BeginSignIn(client, call.session(), {});
}

rest::Handled GetConsoleCallback(Call& call) {
  rest::ProviderClient client = ClientOf(call);
  rest::CountTry(call.session(), kTried, call.request().remote_address);
  return rest::FinishSignIn<Call>(call, std::move(client), EndSignIn);
}

rest::Handled PostConsoleSignOut(Call& call) {
  const std::string_view token = ConsoleTokenOf(call.request());
  if (!token.empty() && !rest::IsOfOwnPage(call.request(), token)) return NoCsrfToken();
  if (const auto own = store::FindConsoleSession(call.session(), token)) {
    call.caller.name = own->email;
    store::EndConsoleSession(call.session(), call.parts.clock, own->id,
                             AuditOf(call, "console.sign_out", std::nullopt));
  }
  rest::Reply reply = rest::JsonReply(200, {{"signed_out", true}});
  reply.headers.push_back(rest::SetCookie(kSessionCookie, "", std::chrono::seconds(0)));
  return reply;
}

rest::Handled GetConsoleSessions(Call& call) {
  base::Json items = base::Json::array();
  for (const auto& one : store::ListConsoleSessions(call.session(), kSessionsShown)) {
    items.push_back(SessionJson(call, one));
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

rest::Handled DeleteConsoleSession(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::EndConsoleSession(call.session(), call.parts.clock, call.Id(0),
                                AuditOf(call, "console.end_session", reason))) {
    return rest::NotFound("session of the console");
  }
  return rest::Reply{204, {}};
}

}  // namespace vedette::admin
