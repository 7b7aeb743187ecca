#pragma once

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/json.h"
#include "store/accounts/accounts.h"

// API keys as both ports read and show them: the organisation's own callers, and the operator.
// Pure.
namespace vedette::rest {

base::Json ApiKeyJson(const store::ApiKey& key);

// The link to a page of the dashboard ("#/invitation/..."), which names the cell that gives it out.
std::string DashboardLink(const std::string& public_url, const std::string& cell,
                          const std::string& page);

// The members of a new key: name, and optionally scopes, expires_at, which is behind `now`, and
// team_id.
store::NewApiKey ReadNewApiKey(BodyReader* body, base::Timestamp now);

// 201 with the key, which is readable only here; or why none was made.
Reply NewApiKeyReply(const store::ApiKeyOutcome& outcome);

}  // namespace vedette::rest
