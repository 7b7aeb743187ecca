#pragma once

#include "base/clock.h"
#include "store/checks/chunks.h"
#include "store/session.h"

namespace vedette::store {

// Replaces a leased chunk by two halves that are due at once: by its parts where it has several,
// else by its rows. What it holds reserved returns. False when the lease was lost, or one row is
// all it has.
bool SplitChunk(Session& session, const base::Clock& clock, const Lease& lease);

// `claims` is raised to this when a chunk of one row has its first last try. A worker that claims
// such a chunk knows that `claims` - kLastTryClaims last tries ended with their process.
inline constexpr int kLastTryClaims = 1'000'000;

// A chunk of one row that is to be tried with care.
struct CarefulTry {
  bool counted = true;    // ClaimedChunk::counted
  bool last_try = false;  // it is tried alone
};

// Commits, before the row is started, that the claim counts: a claim after a death counts one more.
// False when the lease was lost.
bool CountTry(Session& session, const Lease& lease, CarefulTry careful);

}  // namespace vedette::store
