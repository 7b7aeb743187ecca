#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "store/audit.h"
#include "store/session.h"

namespace vedette::store {

// One entry of the audit (store/audit.h), as written.
struct AuditRecord {
  base::Uuid id;
  base::Timestamp at;
  std::string actor;
  std::string action;
  std::string target;
  std::optional<base::Uuid> org_id;
  std::optional<std::string> reason;
  std::optional<base::Json> detail;
  std::string remote_address;
};

// The place of an entry in the list.
struct AuditPlace {
  base::Timestamp at;
  base::Uuid id;
};

// Newest first, at most `limit`, behind the place `before`. Throws as InTransaction does.
std::vector<AuditRecord> ListAudit(Session& session, const std::optional<AuditPlace>& before,
                                   int limit);

// An entry for what changes nothing in the database (a drain). Throws as InTransaction does.
void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry);

}  // namespace vedette::store
