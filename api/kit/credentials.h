#pragma once

#include <optional>
#include <string>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/json.h"
#include "net/public_address.h"
#include "store/accounts/accounts.h"
#include "store/accounts/oauth_clients.h"

// API keys and OAuth clients as both ports read and show them: the organisation's own callers, and
// the operator. Pure.
namespace vedette::rest {

// API keys.

base::Json ApiKeyJson(const store::ApiKey& key);

// The link to a page of the dashboard ("#/invitation/..."), which names the cell that gives it out.
std::string DashboardLink(const std::string& public_url, const std::string& cell,
                          const std::string& page);

// The members of a new key: name, and optionally scopes, expires_at, which is behind `now`, and
// team_id.
store::NewApiKey ReadNewApiKey(BodyReader* body, base::Timestamp now);

// 201 with the key, which is readable only here; or why none was made.
Reply NewApiKeyReply(const store::ApiKeyOutcome& outcome);

// OAuth clients.

base::Json OauthClientJson(const store::OauthClient& client);
base::Json OauthClientKeyJson(const store::ClientKey& key);

// Bodies are read in two steps: the members, whose problems are the reader's, and then, once the
// reader has none, what they say together.

struct NewClientBody {
  std::optional<std::string> name;
  std::optional<std::string> team_id;
  std::optional<std::int64_t> token_ttl_s;
  std::optional<std::string> jwks_uri;
};
NewClientBody ReadNewClient(BodyReader* body);
// Refuses with a 404 for a team_id that is none, a 400 for a jwks_uri that is not https, or leads
// inside (G9).
store::NewClient MakeNewClient(NewClientBody body, const net::AddressPolicy& policy);
// Why none was made.
Reply ClientRefusal(store::ClientOutcome::Kind kind, int clients_max);

// What is not named stays. Null takes the life of tokens back to the configured one.
store::ClientChange ReadClientChange(BodyReader* body);

struct NewKeyBody {
  std::optional<std::string> pem;
  std::optional<std::string> kid;
  std::optional<std::string> algorithm;
};
NewKeyBody ReadNewKey(BodyReader* body);
store::NewClientKey MakeNewKey(NewKeyBody body);  // refuses what is no public key with a 400
Reply KeyRefusal(store::KeyOutcome outcome, int keys_max);

Reply NoClient();     // 404
Reply NoClientKey();  // 404

}  // namespace vedette::rest
