#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "api/kit/answer.h"
#include "api/tenant/call.h"
#include "api/tenant/credentials.h"
#include "api/tenant/outgoing.h"
#include "config/config_fwd.h"
#include "domain/auth/jwt.h"
#include "domain/auth/key_scope.h"
#include "store/accounts/auth.h"
#include "store/place.h"

namespace vedette::api {

// The scope that a key needs for a route, by the first segments of its pattern; empty for a pattern
// that stands for nothing here, which no route of the table may have (routes.cc). GET is allowed by
// kRead as well, but where the scope is kAccount. Pure.
constexpr std::optional<domain::KeyScope> ScopeOf(std::string_view pattern) {
  using domain::KeyScope;
  struct Room {
    std::string_view prefix;
    KeyScope scope;
  };
  constexpr Room kRooms[] = {
      {"/monitors", KeyScope::kMonitors},     {"/events", KeyScope::kMonitors},
      {"/channels", KeyScope::kMonitors},     {"/schedules", KeyScope::kMonitors},
      {"/storage/csv", KeyScope::kMonitors},  {"/find-email", KeyScope::kLookups},
      {"/reverse-email", KeyScope::kLookups}, {"/verify-age", KeyScope::kLookups},
      {"/job-status", KeyScope::kLookups},    {"/v1/atlas", KeyScope::kLookups},
      {"/search", KeyScope::kSearch},         {"/workflows", KeyScope::kWorkflows},
      {"/templates", KeyScope::kWorkflows},   {"/credits", KeyScope::kRead},
      {"/account", KeyScope::kAccount},       {"/oauth/clients", KeyScope::kAccount},
      {"/dashboard/", KeyScope::kRead},       {"/snapshots", KeyScope::kMonitors},
  };
  for (const Room& room : kRooms) {
    if (pattern.starts_with(room.prefix)) return room.scope;
  }
  return std::nullopt;
}

// Whether a key with these scopes may use a route.
constexpr bool MayUse(const domain::KeyScopes& scopes, std::string_view method,
                      std::string_view pattern) {
  const auto scope = ScopeOf(pattern);
  if (!scope) return scopes.all();
  // Everybody may see and change what he signs in with himself, and end his own sessions.
  if (pattern.starts_with("/dashboard/")) return true;
  const bool reads = method == "GET" && *scope != domain::KeyScope::kAccount;
  return scopes.Has(*scope) || (reads && scopes.Has(domain::KeyScope::kRead));
}

// The way from a credential to its caller: the one place that answers what is decided before a
// route's own rules, in this order:
//   400 ambiguous_credentials, 401 unauthorized or invalid_token, 503 unavailable,
//   403 unknown_organisation, 429 rate_limited,
//   403 organisation_locked, unknown_user, credential_not_allowed, insufficient_scope,
//       feature_not_enabled
// Pool's threads but for Refuse, which any thread may call.

// To a request without a credential of good form. The log has why a token was refused.
rest::Reply Refuse(const Dependencies& parts, const rest::Answer& answer, CredentialFault fault);

// A credential that lets nobody in: the answer, and its outcome in the metrics.
struct Refused {
  rest::Reply reply;
  std::string_view outcome;
};
// The keys of the identity provider are to be fetched first (ProviderKeys::Fetch).
struct KeysAreDue {};
using FoundCaller = std::variant<store::Authentication, Refused, KeysAreDue>;

// `keys_fetched`: whether this request has waited for the provider's keys already; it does so once.
FoundCaller FindCaller(const Dependencies& parts, store::Session& session,
                       const rest::Answer& answer, const Credential& credential, bool count,
                       bool keys_fetched);

// The 421 where the directory says that an organisation lives at another cell; nothing where it
// does not. Asked of one that is locked or not here, as one that has moved is.
std::optional<rest::Reply> AtAnotherCell(const Dependencies& parts, store::Session& session,
                                         const base::Uuid& org_id);
// The 503 to a caller who would write while the organisation moves to another cell.
rest::Reply OrganisationMoves(base::Timestamp until, base::Timestamp now);
// What the store's OrganisationAway comes to: the 421 or that 503.
rest::Reply AwayReply(const store::OrganisationPlace& place, base::Timestamp now);
// The same to a link that is read: who opens it knows no 421, and is led to the other cell by a
// 307.
rest::Reply LinkAway(const net::ServerRequest& request, const store::OrganisationPlace& place,
                     base::Timestamp now);
// The 421 of a request that says by kCellHeader that it is for another cell, or that is a link
// which another cell gave out, with no look at the database. A cursor is sent nowhere: it comes
// along with the credential beside it, which may have moved. Pure.
std::optional<rest::Reply> NamesAnotherCell(const Dependencies& parts,
                                            const net::ServerRequest& request, bool is_link);

// Adds the three headers of the limit, where there is one; refuses with a 429 where the principal's
// minute is used up.
void CheckRate(const Dependencies& parts, const store::RequestCount& count, rest::Answer* answer);

// Refuses with the 403s.
void CheckCaller(const store::Authentication& found, const Route& route, base::Timestamp now);

// Bearer tokens of the operator's identity provider ([oidc]): from the text to whom it names. Pure.

using rest::KeysWanted;
using TokenVerdict = std::variant<domain::ExternalToken, domain::JwtFault, KeysWanted>;
TokenVerdict ValidateProviderToken(std::string_view text, const config::Config& config,
                                   const ProviderKeys::View& keys, base::Timestamp now);

// What a token of the provider must be.
domain::ExternalTokenRules ProviderRules(const config::Config& config);

}  // namespace vedette::api
