#pragma once

#include <optional>

#include "api/credentials.h"
#include "api/routes.h"
#include "rest/answer.h"
#include "store/accounts/auth.h"

// From a credential to who calls: the one place that answers what is judged before a route's own
// rules, in this order:
//   400 ambiguous_credentials, 401 unauthorized or invalid_token, 429 rate_limited,
//   403 organisation_locked, unknown_user, credential_not_allowed, feature_not_enabled
// Pool's threads but for Refuse, which any thread may call.
namespace vedette::api {

rest::Reply Refuse(CredentialFault fault);
// To a credential of good form that is not, or no longer, known.
rest::Reply RefuseUnknown(Credential::Kind kind);

std::optional<store::Authentication> FindCaller(const Parts& parts, store::Session& session,
                                                const net::ServerRequest& request,
                                                const Credential& credential, bool count);

// Adds the three headers of the limit, where there is one; a 429 where the principal's minute is
// used up.
std::optional<rest::Reply> JudgeRate(const Parts& parts, const store::RequestCount& count,
                                     rest::Answer* answer);

// The 403s.
std::optional<rest::Reply> JudgeCaller(const store::Authentication& found, const Route& route);

}  // namespace vedette::api
