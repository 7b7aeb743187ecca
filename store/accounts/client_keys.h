#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/jwk_set.h"
#include "store/audit.h"
#include "store/session.h"

// The keys that OAuth clients publish under a URL, as they were last fetched. They stand in the
// database, so that the limits of fetches hold for the whole fleet. All functions throw as
// InTransaction does (store/session.h).
namespace vedette::store {

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
// As BeginKeyFetch, for somebody who asks by hand: whenever the last fetch began, and audited.
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
