#include "store/deliveries/monitor_deliveries.h"

#include "domain/notification.h"
#include "store/sql.h"

namespace vedette::store {

std::vector<MonitorDelivery> ListMonitorDeliveries(
    Session& session, const base::Uuid& monitor_id,
    const std::optional<domain::DeliveryState>& state, const std::optional<base::Uuid>& before,
    int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<MonitorDelivery> deliveries;
    for (const auto& row : tx.Exec("delivery_list_monitor", monitor_id, state, before, limit)) {
      MonitorDelivery& d = deliveries.emplace_back();
      bool receiver_fails = false;
      Columns(row).Into(&d.id, &d.state, &d.type, &d.row_id, &d.event_group_id, &d.attempts,
                        &d.next_attempt_at, &d.last_error, &d.created_at, &receiver_fails);
      if (d.next_attempt_at) {
        d.waits_for = domain::WaitOf(receiver_fails, d.attempts, d.last_error);
      }
    }
    return deliveries;
  });
}

}  // namespace vedette::store
