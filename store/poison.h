#pragma once

#include "base/clock.h"
#include "store/chunks.h"
#include "store/session.h"

namespace vedette::store {

// Replaces a leased chunk by two halves that are due at once: by its parts where it has several,
// else by its rows. What it holds reserved returns. False when the lease was lost, or one row is
// all it has.
bool SplitChunk(Session& session, const base::Clock& clock, const LeaseRef& lease);

// What `claims` is raised to when a chunk of one row has its first last try: whoever claims it
// after that knows that `claims` - kLastTryClaims last tries ended with their process.
inline constexpr int kLastTryClaims = 1'000'000;

// Sets it. False when the lease was lost.
bool MarkLastTry(Session& session, const LeaseRef& lease);

}  // namespace vedette::store
