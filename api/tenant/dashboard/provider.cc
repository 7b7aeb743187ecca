// Members sign in by the operator's identity provider (api/kit/sign_in.h).
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/credentials.h"
#include "api/kit/sign_in.h"
#include "api/tenant/authenticate.h"
#include "api/tenant/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/crypto.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "store/place.h"

namespace vedette::api {
namespace {

using Purpose = store::OneTimePurpose;

constexpr std::string_view kProviderCookie = "__Host-vedette-provider";
constexpr std::string_view kCallbackPath = "/dashboard/provider/callback";

// What becomes of a sign-in that lets nobody in, beside the ends of api/kit/sign_in.h.
constexpr std::string_view kUnknown = "unknown";        // a member of no organisation
constexpr std::string_view kInvitation = "invitation";  // is used, or is for another address
constexpr std::string_view kElsewhere = "elsewhere";    // at the cell to which the browser is sent
constexpr std::string_view kMoving = "moving";          // to another cell

// The address to which the provider sends the browser back. It names the cell, as a router has
// nothing else to go by.
std::string RedirectUri(const Call& call) {
  const std::string& cell = call.parts.config.cell.id;
  std::string uri = call.parts.config.public_url + std::string(kCallbackPath);
  if (!cell.empty()) uri += fmt::format("?{}={}", domain::kCellParameter, cell);
  return uri;
}

// What the dashboard is at the provider. Refuses where it is nothing.
rest::ProviderClient ClientOf(const Call& call) {
  CheckDashboard(call);
  const config::OidcConfig& oidc = call.parts.config.oidc;
  if (oidc.client_id.empty()) {
    throw rest::Refusal(rest::NoSuchPath(call.request().path, "[oidc] client_id is empty"));
  }
  domain::ExternalTokenRules rules = ProviderRules(call.parts.config);
  rules.audience = oidc.client_id;
  return {.rules = std::move(rules),
          .client_secret = oidc.client_secret,
          .redirect_uri = RedirectUri(call),
          .scope = "openid email",
          .cookie = kProviderCookie,
          .purpose = Purpose::kProvider,
          .keys = call.parts.provider_keys,
          .jwks = call.parts.config.jwks};
}

rest::Reply GoTo(const Call& call, const std::string& place,
                 const std::optional<std::string>& cell = std::nullopt) {
  return rest::LeaveSignIn(
      ClientOf(call), rest::DashboardLink("", cell.value_or(call.parts.config.cell.id), place));
}

rest::Reply Sorry(const Call& call, std::string_view what, std::string_view reason,
                  const std::optional<std::string>& cell = std::nullopt) {
  call.parts.log.Info("a sign-in by the identity provider was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", std::string(reason)}});
  return GoTo(call, "#/sorry/" + std::string(what), cell);
}

rest::Reply Enter(Call& call, const std::string& email, const base::Uuid& org_id) {
  const auto made = MakeSession(call, email, org_id, {});
  if (made.kind != store::SessionOutcome::Kind::kDone) {
    return Sorry(call, kUnknown, "he is no member any more");
  }
  rest::Reply reply = GoTo(call, "");
  reply.headers.push_back(SessionCookie(made.token));
  return reply;
}

// Makes the person a member of the organisation that the token names, and gives it.
std::optional<base::Uuid> Claim(Call& call, const domain::IdToken& token) {
  if (!token.organisation) return std::nullopt;
  const auto team_id = token.team ? base::Uuid::Parse(*token.team) : std::nullopt;
  // The team must be there where it is asked for, as in a bearer token.
  if (!call.parts.config.oidc.team_claim.empty() && !team_id) return std::nullopt;
  return store::ClaimMembership(call.session(), call.parts.clock, token.email, *token.organisation,
                                team_id,
                                AuditOfMember(call, base::Uuid{}, token.email, "member.claim"));
}

// Lets the person in for whose address the provider has vouched: by the invitation that he has come
// with, as a member whom the token names, or as one that he is.
rest::Reply Admit(Call& call, const domain::IdToken& token, const store::Binding& binding) {
  const std::string& email = token.email;
  if (binding.invitation_sha256) {
    const auto found = store::FindInvitationBy(call.session(), *binding.invitation_sha256);
    if (!found || found->email != email) {
      return Sorry(call, kInvitation, "the invitation is gone, or for another address");
    }
    const auto taken =
        store::AcceptInvitation(call.session(), call.parts.clock, *binding.invitation_sha256,
                                {.password = std::nullopt,
                                 .passkey = std::nullopt,
                                 .own_passkey = std::nullopt,
                                 .by_provider = true},
                                AuditOfMember(call, found->org_id, email, "invitation.accept"));
    if (taken == store::Acceptance::kGone) {
      return Sorry(call, kInvitation, "the invitation was used meanwhile");
    }
    if (taken == store::Acceptance::kLastOwner) {
      return Sorry(call, kInvitation, "it would take the organisation's last owner away");
    }
    return Enter(call, email, found->org_id);
  }
  const auto named = Claim(call, token);
  const auto all = ProviderMemberships(store::FindPerson(call.session(), email), named);
  if (all.empty()) return Sorry(call, kUnknown, "the address is a member's of no organisation");
  if (all.size() == 1) return Enter(call, email, all.front().org_id);
  rest::Reply reply = GoTo(call, "#/choose");
  reply.headers.push_back(OfferChoice(call, email, Purpose::kProviderChoice, {}, named));
  return reply;
}

rest::Handled EndSignIn(Call& call, const rest::SignInEnd& end) {
  if (const auto* fault = std::get_if<rest::SignInFault>(&end)) {
    return Sorry(call, fault->what, fault->reason);
  }
  const auto& [token, binding] = std::get<rest::SignedIn>(end);
  try {
    return Admit(call, token, binding);
  } catch (const store::OrganisationAway& away) {
    const auto& cell = away.place().lives_at;
    return Sorry(call, cell ? kElsewhere : kMoving, away.what(), cell);
  }
}

}  // namespace

rest::Handled StartProviderSignIn(Call& call) {
  const rest::ProviderClient client = ClientOf(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto invitation = body.Text("invitation", rest::Presence::kOptional, 1, kLinkTokenCharsMax);
  body.Check();
  CountTry(call);
  store::Binding binding;
  if (invitation) binding.invitation_sha256 = base::Sha256(*invitation);
  return rest::BeginSignIn(client, call.session(), binding);
}

rest::Handled FinishProviderSignIn(Call& call) {
  rest::ProviderClient client = ClientOf(call);
  CountTry(call);
  return rest::FinishSignIn<Call>(call, std::move(client), EndSignIn);
}

}  // namespace vedette::api
