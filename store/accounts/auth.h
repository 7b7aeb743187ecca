#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/key_scope.h"
#include "domain/auth/principal.h"
#include "store/scope.h"
#include "store/session.h"

namespace vedette::store {

// The caller, as the database knows it at this moment.
struct Caller {
  domain::Principal principal;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  bool organisation_locked = false;
  // While it is locked for a move: until when, as announced. It may read meanwhile.
  std::optional<base::Timestamp> organisation_moving_until;
  std::set<std::string, std::less<>> features;
  domain::KeyScopes scopes;           // of an API key; any other credential has all
  std::optional<std::string> reason;  // an operator's, for the audit; no other caller has one

  Scope scope() const { return {org_id, team_id}; }
  bool Has(std::string_view feature) const { return features.find(feature) != features.end(); }
};

// The requests of a principal in the current minute, this one included; 0 where requests are not
// counted.
struct RequestCount {
  std::int64_t requests = 0;
  base::Timestamp minute_ends_at;
};

struct Authentication {
  Caller caller;
  RequestCount count;
  // Whether the user for whom the call is forwarded may be named by this caller: a member of the
  // organisation, or the session's own user. Empty where none was named.
  std::optional<bool> user_known;
};

// A token of a client, or of a session: its prefix, the cell (domain/auth/cell.h) and
// kTokenRandomChars base62 characters. Of the whole only the SHA-256 is stored.
inline constexpr std::string_view kClientTokenPrefix = "vd_at_";
inline constexpr std::string_view kSessionTokenPrefix = "vd_ses_";
inline constexpr std::size_t kTokenRandomChars = 43;

// Whether the text has the form of an API key, or of a token. Any other is none, without a look at
// the database.
bool IsApiKey(std::string_view text);
bool IsToken(std::string_view text);
// The cell that gave out what has the form of either; empty for the first one, nothing for any
// other text.
std::optional<std::string_view> CellOfCredential(std::string_view text);

struct AuthQuestion {
  std::string_view credential;                     // an API key or a token: its form tells which
  std::optional<std::string_view> forwarded_user;  // as the request names one
  bool client_tokens = true;                       // whether tokens of OAuth clients are taken
  bool count = false;                              // whether the request is counted
};
// Finds the key or the token and counts the request: one statement, read at every request so that a
// lock or a revocation holds at once. Empty for one that is malformed, unknown, expired or revoked,
// or whose client is not what it was.
std::optional<Authentication> Authenticate(Session& session, const AuthQuestion& question);

// The caller whom a verified token of the operator's identity provider names.
struct ExternalQuestion {
  base::Uuid principal;
  std::string label;                  // for the audit
  std::string organisation;           // its id or its external_id
  std::optional<base::Uuid> team_id;  // that the caller is limited to
  std::optional<std::string_view> forwarded_user;
  bool count = false;
};
// The same as Authenticate. Empty where there is no such organisation, or it has no such team.
std::optional<Authentication> AuthenticateExternal(Session& session,
                                                   const ExternalQuestion& question);

// Counts a request of a principal that showed itself otherwise: a client with its assertion.
RequestCount CountRequest(Session& session, const base::Uuid& principal);

}  // namespace vedette::store
