#pragma once

#include <memory>

#include "base/uuid.h"
#include "domain/monitor_json.h"
#include "rest/cursor.h"
#include "rest/list_stream.h"

namespace vedette::api {

// The lists of monitors, and whose each is. A list's letter stays for good: clients keep cursors.
inline rest::CursorOf MonitorsOf(const base::Uuid& team_or_org_id) {
  return {'m', team_or_org_id};
}
inline rest::CursorOf RowsOf(const base::Uuid& monitor_id) {
  return {'r', monitor_id};
}
inline rest::CursorOf TicksOf(const base::Uuid& monitor_id) {
  return {'t', monitor_id};
}

inline rest::CursorOf EventsOf(const base::Uuid& monitor_team_or_org_id) {
  return {'e', monitor_team_or_org_id};
}
inline rest::CursorOf DeliveriesOf(const base::Uuid& monitor_id) {
  return {'d', monitor_id};
}

// How all rows of a monitor after `after_position` are read and written; the caller adds head,
// limit and tail.
rest::ListParts<domain::Row> RowListParts(const std::shared_ptr<const domain::Monitor>& monitor,
                                          domain::RowJson::View view, int after_position);

}  // namespace vedette::api
