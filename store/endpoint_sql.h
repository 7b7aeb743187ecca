#pragma once

#include "base/clock.h"
#include "base/uuid.h"
#include "store/endpoint.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/: where notifications go, inside the caller's transaction.

// The organisation's endpoint of that address, made if need be; it is not forgotten while the
// transaction lasts.
base::Uuid EnsureEndpoint(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                          const EndpointAddress& address);

// Rows of :target_columns, which a record of checks and the deliverer read alike.
void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets);

}  // namespace vedette::store
