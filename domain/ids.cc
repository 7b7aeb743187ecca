#include "domain/ids.h"

#include <string>

namespace vedette::domain {

base::Uuid EventGroupId(const base::Uuid& row_id, std::int64_t tick_id) {
  return base::Uuid::V5(row_id, std::to_string(tick_id));
}

base::Uuid EventId(const base::Uuid& event_group_id, EventType type, std::string_view field) {
  std::string name(EventTypeName(type));
  if (type == EventType::kChange) name.append(":").append(field);
  return base::Uuid::V5(event_group_id, name);
}

}  // namespace vedette::domain
