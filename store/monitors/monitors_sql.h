#pragma once

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"
#include "store/monitors/monitors.h"
#include "store/sql.h"

// Internal to store/: a new monitor inside the caller's transaction.
namespace vedette::store {

// Inserts the monitor and its schedule, without its rows.
void AddMonitor(Transaction& tx, const base::Clock& clock, const NewMonitor& monitor,
                const base::Uuid& id, domain::MonitorStatus status);

}  // namespace vedette::store
