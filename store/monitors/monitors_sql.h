#pragma once

#include <optional>

#include "base/uuid.h"
#include "domain/names.h"
#include "store/monitors/monitors.h"
#include "store/sql.h"

// Internal to store/: a new monitor inside the caller's transaction.
namespace vedette::store {

// Inserts the monitor and its schedule, without its rows. `endpoint_id` is the receiver of its
// webhook, where it has one.
void InsertMonitor(Transaction& tx, const NewMonitor& monitor, const base::Uuid& id,
                   domain::MonitorStatus status, const std::optional<base::Uuid>& endpoint_id);

}  // namespace vedette::store
