#pragma once

#include <cstdint>
#include <string_view>

#include "base/uuid.h"
#include "domain/names.h"

namespace vedette::domain {

// A check's id, shown as event_group_id: UUIDv5(namespace: row id, name: decimal tick_id). The same
// check has the same id whoever runs it, however often.
base::Uuid EventGroupId(const base::Uuid& row_id, std::int64_t tick_id);

// An event's id: UUIDv5(namespace: event_group_id, name: event type), for a change
// "change:<field>".
base::Uuid EventId(const base::Uuid& event_group_id, EventType type, std::string_view field = {});

}  // namespace vedette::domain
