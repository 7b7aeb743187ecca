#include "store/targets.h"

#include "store/targets_sql.h"

namespace vedette::store {

void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets) {
  for (const auto& row : rows) {
    base::Uuid monitor_id;
    DeliveryTarget target;
    Columns(row).Into(&monitor_id, &target.url, &target.endpoint_id, &target.metadata);
    (*targets)[monitor_id] = std::move(target);
  }
}

}  // namespace vedette::store
