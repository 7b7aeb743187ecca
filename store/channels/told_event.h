#pragma once

#include "domain/monitor/monitor.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/channels/: an event as channels tell it. Reads monitor_id, row_id and
// :event_columns, which come last.
domain::Event ReadTold(Columns& in);

}  // namespace vedette::store
