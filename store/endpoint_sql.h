#pragma once

#include "base/clock.h"
#include "base/uuid.h"
#include "store/endpoint.h"
#include "store/sql.h"

// Internal to store/.
namespace vedette::store {

// The organisation's endpoint of that address, made if need be; it is not forgotten while the
// transaction lasts.
base::Uuid EnsureEndpoint(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                          const EndpointAddress& address);

}  // namespace vedette::store
