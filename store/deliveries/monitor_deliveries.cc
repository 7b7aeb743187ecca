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
    for (const auto& row : tx.Exec<"delivery_list_monitor">("monitor_id"_a = monitor_id,
                           "state"_a = state, "before"_a = before, "limit"_a = limit)) {
      MonitorDelivery& d = deliveries.emplace_back();
      bool receiver_fails = false;
      Columns(row).Into("id"_a = &d.id, "state"_a = &d.state, "type"_a = &d.type,
                        "row_id"_a = &d.row_id, "event_group_id"_a = &d.event_group_id,
                        "attempts"_a = &d.attempts, "next_attempt_at"_a = &d.next_attempt_at,
                        "last_error"_a = &d.last_error, "created_at"_a = &d.created_at,
                        "receiver_fails"_a = &receiver_fails);
      if (d.next_attempt_at) {
        d.waits_for = domain::WaitOf(receiver_fails, d.attempts, d.last_error);
      }
    }
    return deliveries;
  });
}

}  // namespace vedette::store
