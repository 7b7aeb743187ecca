#pragma once

#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/: writes the entry in the caller's transaction. `clock` gives the id its time.
void InsertAudit(Transaction& tx, const base::Clock& clock, const AuditEntry& entry);

}  // namespace vedette::store
