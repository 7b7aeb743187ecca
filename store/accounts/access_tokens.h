#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/jwk_set.h"
#include "domain/auth/jwt.h"
#include "store/accounts/oauth_clients.h"
#include "store/accounts/sign_in.h"
#include "store/audit.h"
#include "store/session.h"

// Tokens of OAuth clients, and sessions of users and of operators. A token is readable only where
// it is made. All functions throw as InTransaction does (store/session.h).
namespace vedette::store {

// A client that may sign assertions: it is neither deleted nor disabled.
struct AssertingClient {
  base::Uuid id;
  base::Uuid org_id;
  int token_version = 0;
  std::optional<std::chrono::seconds> token_ttl;
  bool organisation_locked = false;
  std::optional<base::Timestamp> organisation_moving_until;  // as of store::Caller
  std::vector<domain::SetKey> keys;                          // live ones
  std::optional<PublishedKeys> published;                    // where the client publishes its keys
};
std::optional<AssertingClient> FindAssertingClient(Session& session, const base::Uuid& client_id);

// Takes a validated assertion: false where its jti was taken before, by any process.
bool TakeAssertion(Session& session, const base::Uuid& client_id,
                   const domain::Assertion& assertion);

struct MintOrder {
  const AssertingClient& client;
  const domain::Assertion& assertion;
  std::chrono::seconds ttl;
  int tokens_max;           // alive at once
  std::string_view cell{};  // that gives it out (domain/auth/cell.h)
};
struct MintedToken {
  std::string token;
};
enum class MintRefusal {
  kReplayed,  // the assertion was taken before
  kChanged,   // the client is not what it was when the assertion was validated
  kTooMany,   // tokens; the assertion may be sent again
};
// Takes the assertion and writes the token, in one transaction: of equal assertions that are sent
// to any processes exactly one gets a token, and one whose COMMIT failed may be sent again.
std::variant<MintedToken, MintRefusal> MintToken(Session& session, const base::Clock& clock,
                                                 const MintOrder& order);

// Ends a token of this client; any other is left alone.
void RevokeToken(Session& session, const base::Uuid& client_id, const std::string& token);

struct LiveToken {
  base::Uuid client_id;
  base::Timestamp created_at;
  base::Timestamp expires_at;
};
// A live token of a client of this organisation.
std::optional<LiveToken> IntrospectToken(Session& session, const base::Uuid& org_id,
                                         const std::string& token);

struct NewSession {
  std::string user_id;
  std::optional<std::string> name;  // of the user
  std::optional<base::Uuid> team_id;
  std::chrono::seconds ttl{};
  // Only for a member who has a role (store/accounts/members.h), and of his team. Otherwise the
  // user becomes a member without one if it is none yet.
  bool for_members = false;
  std::string cell{};  // that gives it out
  ShownWays shown{};   // by a member
};
struct SessionOutcome {
  // kNoMember: or what he has shown is not his any more.
  enum class Kind { kDone, kNoOrganisation, kNoTeam, kNoMember };
  Kind kind = Kind::kDone;
  base::Uuid id;
  std::string token;  // readable only here
  base::Timestamp expires_at;
};
// Throws OrganisationAway (store/place.h).
SessionOutcome CreateSession(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                             const NewSession& order, AuditEntry audit);

struct LiveSession {
  base::Uuid id;
  std::string user_id;
  std::optional<base::Uuid> team_id;
  base::Timestamp created_at;
  base::Timestamp expires_at;
};
struct SessionQuery {
  std::optional<base::Uuid> before;  // newest first: those made before this one
  std::optional<std::string> user_id;
  int limit = 0;
};
// Those that have neither ended nor expired. Empty when there is no such organisation.
std::optional<std::vector<LiveSession>> ListSessions(Session& session, const base::Uuid& org_id,
                                                     const SessionQuery& query);
// False when the organisation has no such session.
bool EndSession(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                const base::Uuid& session_id, AuditEntry audit);

struct OrgUser {
  std::string user_id;
  std::optional<std::string> name;
  base::Timestamp created_at;
  std::int64_t sessions = 0;  // live ones
};
// By user_id, those behind `after`. Empty when there is no such organisation.
std::optional<std::vector<OrgUser>> ListOrgUsers(Session& session, const base::Uuid& org_id,
                                                 const std::optional<std::string>& after,
                                                 int limit);
// A session at the operator's console. Its token is kConsoleTokenPrefix and kTokenRandomChars
// base62 characters.
inline constexpr std::string_view kConsoleTokenPrefix = "vd_con_";
// Whether the text has the form of such a token. Any other is none.
bool IsConsoleToken(std::string_view text);

struct NewConsoleSession {
  std::string issuer;
  std::string subject;  // the person, as the issuer has him
  std::string email;
  std::vector<std::string> role_values;  // of the claim of the role
  std::chrono::seconds ttl{};
};
// The token, which is readable only here. The audit's target is the session.
std::string CreateConsoleSession(Session& session, const base::Clock& clock,
                                 const NewConsoleSession& order, AuditEntry audit);

struct ConsoleSession {
  base::Uuid id;
  std::string issuer;
  std::string subject;
  std::string email;
  std::vector<std::string> role_values;
  base::Timestamp created_at;
  base::Timestamp expires_at;
};
// Empty for a token that is malformed or unknown, or whose session has ended.
std::optional<ConsoleSession> FindConsoleSession(Session& session, std::string_view token);
// Those that have neither ended nor expired, newest first.
std::vector<ConsoleSession> ListConsoleSessions(Session& session, int limit);
// False when there is no such session any more.
bool EndConsoleSession(Session& session, const base::Clock& clock, const base::Uuid& id,
                       AuditEntry audit);

}  // namespace vedette::store
