#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"
#include "store/session.h"

namespace vedette::store {

// A notification of a monitor that has not arrived, as its owner sees it.
struct MonitorDelivery {
  base::Uuid id;
  domain::DeliveryState state = domain::DeliveryState::kPending;
  domain::NotificationType type = domain::NotificationType::kChanged;
  base::Uuid row_id;
  base::Uuid event_group_id;
  int attempts = 0;
  // When it is due, its receiver's breaker considered. Empty where nothing is planned: dead, or
  // being sent now.
  std::optional<base::Timestamp> next_attempt_at;
  std::optional<domain::DeliveryWait> waits_for;  // where an attempt is planned
  std::optional<std::string> last_error;
  base::Timestamp created_at;
};

// The pending and dead ones (or those of `state`) of a monitor that the caller found in scope:
// newest first, at most `limit`, behind `before`. Throws as InTransaction (store/session.h).
std::vector<MonitorDelivery> ListMonitorDeliveries(
    Session& session, const base::Uuid& monitor_id,
    const std::optional<domain::DeliveryState>& state, const std::optional<base::Uuid>& before,
    int limit);

}  // namespace vedette::store
