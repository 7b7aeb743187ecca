#pragma once

#include "store/sql.h"
#include "store/targets.h"

// Internal to store/: what a record of checks and the deliverer read alike.
namespace vedette::store {

// Rows of :target_columns.
void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets);

}  // namespace vedette::store
