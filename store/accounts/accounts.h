#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/key_scope.h"
#include "store/audit.h"
#include "store/session.h"

// Organisations, their teams, credits and API keys, as the operator sees them. Every change is one
// transaction with its audit entry, whose target and org_id the functions fill in. All functions
// throw as InTransaction does (store/session.h). Flags and features are changed through
// store/monitors/control.h.
namespace vedette::store {

struct Team {
  base::Uuid id;
  std::string name;
  std::optional<std::int64_t> spend_limit_mc;  // a calendar month; empty = none
  std::int64_t spent_mc = 0;                   // in this one
};

struct Organisation {
  base::Uuid id;
  std::string name;
  std::optional<std::string> external_id;  // the name that the identity provider has for it
  bool locked = false;
  std::optional<std::string> lives_at;  // the other cell where it does, of one that moves or has
  std::vector<std::string> features;
  std::int64_t balance_mc = 0;
  std::int64_t reserved_mc = 0;     // for checks and jobs that have not ended
  std::int64_t charged_mc = 0;      // for completed checks and for rows of jobs, ever
  std::int64_t run_data_bytes = 0;  // of the rows of its runs (store/jobs/keeper.h)
  base::Timestamp created_at;
  std::vector<Team> teams;  // in the order they were made
};

struct NewOrganisation {
  std::string name;
  std::vector<std::string> features;
  std::string cell;  // where it lives: this one (store/accounts/cells.h)
};
// With an account of balance 0.
base::Uuid CreateOrganisation(Session& session, const base::Clock& clock,
                              const NewOrganisation& order, AuditEntry audit);

std::optional<Organisation> ReadOrganisation(Session& session, const base::Uuid& org_id);

enum class ExternalIdOutcome { kDone, kNotFound, kTaken };
// Sets the name by which the identity provider's tokens may name the organisation, or takes it
// away.
ExternalIdOutcome SetExternalId(Session& session, const base::Clock& clock,
                                const base::Uuid& org_id,
                                const std::optional<std::string>& external_id, AuditEntry audit);

struct OrganisationQuery {
  std::string q;                     // a part of the name in any case, or the id; empty = all
  std::optional<base::Uuid> before;  // the last id of the page before
  int limit = 0;
};
// Newest first; at most `limit`.
std::vector<Organisation> ListOrganisations(Session& session, const OrganisationQuery& query);

// What the organisation can spend at this moment; 0 where there is none of that id.
std::int64_t ReadBalance(Session& session, const base::Uuid& org_id);

struct CreditOutcome {
  enum class Kind { kDone, kNotFound, kWouldBeNegative, kWouldBeTooLarge };
  Kind kind = Kind::kDone;
  std::int64_t balance_mc = 0;  // after the change; at a refusal, as it stands
};
// No balance grows beyond this, so that it stays exact as a JSON number.
inline constexpr std::int64_t kBalanceMcMax = 1'000'000'000'000'000;

// Adds (or, negative, takes) credits: the balance and its ledger entry together (G4). `amount_mc`
// is not 0.
CreditOutcome AddCredits(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                         std::int64_t amount_mc, const std::string& reason, AuditEntry audit);

// Empty when there is no such organisation.
std::optional<base::Uuid> CreateTeam(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const std::string& name,
                                     const std::optional<std::int64_t>& spend_limit_mc,
                                     AuditEntry audit);

struct TeamChange {
  std::optional<std::string> name;
  bool set_spend_limit = false;
  std::optional<std::int64_t> spend_limit_mc;  // empty lifts it
};
// The team afterwards; empty when the organisation has no such team.
std::optional<Team> ChangeTeam(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                               const base::Uuid& team_id, const TeamChange& change,
                               AuditEntry audit);

enum class TeamDeletion { kDone, kNotFound, kInUse };
// Takes the team out of every list. kInUse: it has live keys, clients, sessions, members,
// invitations, monitors, schedules or jobs.
TeamDeletion DeleteTeam(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& team_id, AuditEntry audit);

struct ApiKey {
  base::Uuid id;
  std::string name;
  std::string prefix;
  std::optional<base::Uuid> team_id;
  base::Timestamp created_at;
  std::optional<base::Timestamp> last_used_at;  // to the hour
  domain::KeyScopes scopes;
  std::optional<base::Timestamp> expires_at;  // it lets nobody in from then on
};

// An API key is kApiKeyPrefix, the cell (domain/auth/cell.h) and kApiKeyRandomChars base62
// characters. All before these and their first kApiKeyPublicRandomChars are stored as they are, to
// find it by; of the whole only the SHA-256.
inline constexpr char kApiKeyPrefix[] = "vd_live_";
inline constexpr std::size_t kApiKeyRandomChars = 43;
inline constexpr std::size_t kApiKeyPublicRandomChars = 6;

// Keys of an organisation that let somebody in, at most. Several that are made at once may be a few
// more.
inline constexpr int kApiKeysMax = 1000;

struct NewApiKey {
  std::string name;
  std::optional<base::Uuid> team_id;
  domain::KeyScopes scopes;
  std::optional<base::Timestamp> expires_at;
  std::string cell{};  // that gives it out
};
struct ApiKeyOutcome {
  enum class Kind { kDone, kNoOrganisation, kNoTeam, kTooMany };
  Kind kind = Kind::kDone;
  ApiKey made;
  std::string key;  // readable only here
};
ApiKeyOutcome CreateApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const NewApiKey& order, AuditEntry audit);

struct ApiKeyQuery {
  std::optional<base::Uuid> before;
  int limit = 0;
};
// Those not revoked, newest first, at most `limit`. Empty when there is no such organisation.
std::optional<std::vector<ApiKey>> ListApiKeys(Session& session, const base::Uuid& org_id,
                                               const ApiKeyQuery& query);

// Whether the organisation has such a key that is not revoked.
bool HasApiKey(Session& session, const base::Uuid& org_id, const base::Uuid& key_id);

// False when the organisation has no such key, or it is revoked already.
bool RevokeApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& key_id, AuditEntry audit);

}  // namespace vedette::store
