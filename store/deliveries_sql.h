#pragma once

#include "store/deliveries.h"
#include "store/sql.h"

// Internal to store/.
namespace vedette::store {

// Rows of id, webhook_url, endpoint_id, metadata.
void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets);

}  // namespace vedette::store
