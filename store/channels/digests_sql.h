#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/channels/: makes what waits for the channel's digest one notification, or one a
// recipient, inside the caller's transaction, which has locked the channel. Returns how much
// waited.
std::int64_t CutDigest(Transaction& tx, const base::Clock& clock, const base::Uuid& channel_id);

}  // namespace vedette::store
