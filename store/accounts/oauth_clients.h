#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/key_pair.h"
#include "base/uuid.h"
#include "domain/auth/jwk_set.h"
#include "domain/auth/principal.h"
#include "store/audit.h"
#include "store/session.h"

namespace vedette::store {

// OAuth clients of an organisation and their keys. Every change is one transaction with its audit
// entry, whose target and org_id the functions fill in. What takes a key, a client or its tokens
// away raises the client's token_version in the same transaction, so that every token of it ends at
// once. All functions throw as InTransaction does (store/session.h).

struct ClientKey {
  std::string kid;
  base::SignatureAlgorithm algorithm = base::SignatureAlgorithm::kRs256;
  base::Timestamp created_at;
  std::optional<base::Timestamp> revoked_at;
};

struct OauthClient {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  std::string name;
  bool disabled = false;
  int token_version = 0;
  std::optional<std::int64_t> token_ttl_s;
  std::optional<base::Timestamp> last_used_at;
  base::Timestamp created_at;
  base::Timestamp updated_at;
  std::optional<domain::PrincipalKind> created_by_kind;  // empty: the operator
  std::optional<base::Uuid> created_by_id;
  std::string created_by_label;
  std::optional<std::string> jwks_uri;  // where it publishes its keys; empty: they are uploaded
  std::optional<base::Timestamp> jwks_validated_at;  // when the last fetch of them ended
  std::optional<std::string> jwks_error;             // of that fetch
  std::vector<ClientKey> keys;                       // uploaded ones, in the order they were made
};

struct NewClient {
  std::string name;
  std::optional<base::Uuid> team_id;
  std::optional<std::int64_t> token_ttl_s;
  std::optional<std::string> jwks_uri;
};
struct ClientOutcome {
  enum class Kind { kDone, kNoOrganisation, kNoTeam, kTooMany };
  Kind kind = Kind::kDone;
  base::Uuid id;
};
ClientOutcome CreateClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const NewClient& order, int clients_max, AuditEntry audit);

// Newest first; not those that are deleted.
std::vector<OauthClient> ListClients(Session& session, const base::Uuid& org_id);
std::optional<OauthClient> ReadClient(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& client_id);

struct ClientChange {
  std::optional<std::string> name;
  std::optional<bool> disabled;
  bool set_token_ttl = false;
  std::optional<std::int64_t> token_ttl_s;  // empty: the configured one
};
// The functions below are false where the organisation has no such client (or it no such key).
bool ChangeClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& client_id, const ClientChange& change, AuditEntry audit);
bool DeleteClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& client_id, AuditEntry audit);
bool VoidClientTokens(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                      const base::Uuid& client_id, AuditEntry audit);
bool RevokeClientKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const base::Uuid& client_id, const std::string& kid, AuditEntry audit);

struct NewClientKey {
  std::string kid;
  base::SignatureAlgorithm algorithm;
  std::string der;
};
enum class KeyOutcome {
  kDone,
  kNoClient,
  kPublishes,  // the client publishes its keys, so that none is uploaded
  kTaken,
  kTooMany,
};
KeyOutcome AddClientKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& client_id, const NewClientKey& key, int keys_max,
                        AuditEntry audit);

// The keys that OAuth clients publish under a URL, as they were last fetched. They stand in the
// database, so that the limits of fetches hold for the whole fleet. All functions throw as
// InTransaction does (store/session.h).

// What is known of a client's fetches, by the database's clock.
struct PublishedKeys {
  std::string url;
  std::optional<base::Timestamp> fetched_at;  // of the keys; empty: there are none
  std::optional<base::Timestamp> tried_at;    // when the last fetch began
  std::optional<base::Timestamp> ended_at;    // when the last fetch ended
  base::Timestamp now;

  // A fetch that began less than `fetch_max` ago, and has not ended, is under way.
  domain::KeyCache Cache(std::chrono::milliseconds fetch_max) const;
};

// The fetch that this caller is to make: one of all that ask within `retry`. Empty for the others,
// and where there is no such client, or none that publishes keys.
using FetchFence = base::Timestamp;
std::optional<FetchFence> BeginKeyFetch(Session& session, const base::Uuid& client_id,
                                        std::chrono::milliseconds retry);
// The same as BeginKeyFetch, for somebody who asks by hand: whenever the last fetch began, and
// audited.
std::optional<FetchFence> BeginKeyFetchByHand(Session& session, const base::Clock& clock,
                                              const base::Uuid& org_id, const base::Uuid& client_id,
                                              AuditEntry audit);

// The fetch has ended. Nothing happens where another has begun since.
void StoreKeys(Session& session, const base::Uuid& client_id, FetchFence fence,
               const std::vector<domain::SetKey>& keys);
// A set came of which no key can be used: the keys that there are stay, and serve as where a fetch
// failed.
void StoreNoKeys(Session& session, const base::Uuid& client_id, FetchFence fence,
                 const std::string& error);
void StoreKeyFailure(Session& session, const base::Uuid& client_id, FetchFence fence,
                     const std::string& error);
// It was not made: the next caller may begin one at once.
void AbandonKeyFetch(Session& session, const base::Uuid& client_id, FetchFence fence);

// A set as it is stored, and back. What cannot be read is passed over.
std::string WriteKeySet(const std::vector<domain::SetKey>& keys);
std::vector<domain::SetKey> ReadKeySet(const std::string& text);

}  // namespace vedette::store
