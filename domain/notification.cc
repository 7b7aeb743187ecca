#include "domain/notification.h"

#include "base/json.h"

namespace vedette::domain {

std::string NotificationBody(const Notification& notification) {
  base::Json body = base::Json::object();
  body["type"] = NotificationTypeName(notification.type);
  body["monitor_id"] = notification.row_id.ToString();
  body["event_group_id"] = notification.event_group_id.ToString();
  body["metadata"] =
      notification.metadata ? base::ParseJsonOrThrow(*notification.metadata) : base::Json(nullptr);
  body["created_at"] = base::FormatTimestamp(notification.created_at);
  return base::DumpJson(body);
}

}  // namespace vedette::domain
