#pragma once

#include "base/clock.h"
#include "store/session.h"

namespace vedette::store {

inline constexpr int kDigestsPerCut = 100;  // of one transaction

// Cuts the digests of channels that are due: what waits for a channel becomes one notification, or
// one a recipient; where nothing waits there is none. Any process may take the next ones, and one
// that dies leaves them as they were. Returns how many channels it looked at. Throws as
// InTransaction.
int CutDigests(Session& session, const base::Clock& clock);

}  // namespace vedette::store
