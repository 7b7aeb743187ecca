#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/uuid.h"
#include "domain/monitor.h"
#include "store/session.h"

namespace vedette::store {

// The skip ledger (G7), newest first, the open tick included; ticks before `before_tick_id` where
// that is given. `monitor_id` was found in scope by the caller.
std::vector<domain::Tick> ListTicks(Session& session, const base::Uuid& monitor_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit);

}  // namespace vedette::store
