#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"

namespace vedette::domain {

// What a receiver is told about one check.
struct Notification {
  base::Uuid delivery_id;
  base::Uuid org_id;
  base::Uuid endpoint_id;
  base::Uuid monitor_id;
  base::Uuid row_id;
  base::Uuid event_group_id;
  NotificationType type = NotificationType::kChanged;
  base::Timestamp created_at;           // by the database's clock
  std::string url;                      // the monitor's webhook_url when this was read
  std::optional<std::string> metadata;  // JSON text, as the client gave it, read with the url
  std::chrono::nanoseconds read_at{};   // since this machine's boot: when that reading began
};

// The body that is signed and sent: compact JSON
//   {"type","monitor_id","event_group_id","metadata","created_at"}
// whose monitor_id is the ROW's id (interface 6.1; for the test notification the caller puts the
// monitor's id into row_id). Nothing else in the system knows this.
std::string NotificationBody(const Notification& notification);

}  // namespace vedette::domain
