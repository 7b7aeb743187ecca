#include "store/targets.h"

#include "store/targets_sql.h"

namespace vedette::store {

void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets) {
  for (const auto& row : rows) {
    base::Uuid monitor_id;
    DeliveryTarget target;
    Columns(row).Into("id"_a = &monitor_id, "webhook_url"_a = &target.url,
                      "endpoint_id"_a = &target.endpoint_id, "metadata"_a = &target.metadata);
    (*targets)[monitor_id] = std::move(target);
  }
}

}  // namespace vedette::store
