#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "api/credentials.h"
#include "api/routes.h"
#include "rest/answer.h"
#include "store/accounts/auth.h"

// From a credential to who calls: the one place that answers what is judged before a route's own
// rules, in this order:
//   400 ambiguous_credentials, 401 unauthorized or invalid_token, 503 unavailable,
//   403 unknown_organisation, 429 rate_limited,
//   403 organisation_locked, unknown_user, credential_not_allowed, feature_not_enabled
// Pool's threads but for Refuse, which any thread may call.
namespace vedette::api {

// To a request without a credential of good form. The log has why a token was refused.
rest::Reply Refuse(const Parts& parts, const rest::Answer& answer, CredentialFault fault);

// A credential that lets nobody in: the answer, and its outcome in the metrics.
struct Refused {
  rest::Reply reply;
  std::string_view outcome;
};
// The keys of the identity provider are to be fetched first (ProviderKeys::Fetch).
struct KeysAreDue {};
using FoundCaller = std::variant<store::Authentication, Refused, KeysAreDue>;

// `keys_fetched`: whether this request has waited for the provider's keys already; it does so once.
FoundCaller FindCaller(const Parts& parts, store::Session& session, const rest::Answer& answer,
                       const Credential& credential, bool count, bool keys_fetched);

// Adds the three headers of the limit, where there is one; a 429 where the principal's minute is
// used up.
std::optional<rest::Reply> JudgeRate(const Parts& parts, const store::RequestCount& count,
                                     rest::Answer* answer);

// The 403s.
std::optional<rest::Reply> JudgeCaller(const store::Authentication& found, const Route& route);

}  // namespace vedette::api
