#pragma once

#include <chrono>
#include <vector>

#include "store/checks/record.h"
#include "store/endpoint.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/, and to bench/delivery, which commits notifications alone.

// Inserts the deliveries of a record in its transaction. One that has a lease and still goes where
// its check meant it to is leased for `lease`; the others are due at once. Tells where their
// monitors send now; every monitor has an entry.
void RecordDeliveries(Transaction& tx, const std::vector<const DeliveryRecord*>& deliveries,
                      std::chrono::milliseconds lease, DeliveryTargets* targets);

}  // namespace vedette::store
