#pragma once

#include "base/clock.h"
#include "store/chunks.h"
#include "store/session.h"

namespace vedette::store {

// Replaces a leased chunk by two halves that are due at once: by its parts where it has several,
// else by its rows. What it holds reserved returns. False when the lease was lost, or one row is
// all it has.
bool SplitChunk(Session& session, const base::Clock& clock, const LeaseRef& lease);

}  // namespace vedette::store
