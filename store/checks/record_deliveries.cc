#include "store/checks/record_deliveries.h"

#include <map>
#include <optional>

#include "store/endpoint_sql.h"

namespace vedette::store {

void RecordDeliveries(Transaction& tx, const std::vector<const DeliveryRecord*>& deliveries,
                      std::chrono::milliseconds lease, DeliveryTargets* targets) {
  targets->clear();
  // Id, organisation, endpoint, monitor and its number from 1, row, group, type, lease.
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"endpoint_id", base::Uuid>,
       Column<"monitor_id", base::Uuid>, Column<"target", int>, Column<"row_id", base::Uuid>,
       Column<"event_group_id", base::Uuid>, Column<"type", domain::NotificationType>,
       Column<"lease_token", std::optional<base::Uuid>>>
      rows;
  std::map<base::Uuid, int> numbers;
  std::vector<base::Uuid> monitors;
  for (const DeliveryRecord* d : deliveries) {
    const auto [number, is_new] =
        numbers.try_emplace(d->monitor_id, static_cast<int>(monitors.size()) + 1);
    if (is_new) {
      monitors.push_back(d->monitor_id);
      targets->try_emplace(d->monitor_id);
    }
    rows.Add(d->id, d->org_id, d->endpoint_id, d->monitor_id, number->second, d->row_id,
             d->event_group_id, d->type, d->lease_token);
  }
  if (rows.empty()) return;
  ReadTargets(
      tx.Exec<"record_deliveries">(rows, "lease_ms"_a = lease.count(), "monitor_ids"_a = monitors),
      targets);
}

}  // namespace vedette::store
