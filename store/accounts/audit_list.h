#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
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
  std::optional<base::JsonText> detail;
  std::string remote_address;
  std::optional<domain::PrincipalKind> principal_kind;  // where a caller of the API did it
  std::optional<base::Uuid> principal_id;
  std::optional<std::string> on_behalf_of;
};

// The place of an entry in the list.
struct AuditPlace {
  base::Timestamp at;
  base::Uuid id;
};

// Which entries; what is empty is any.
struct AuditFilter {
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> principal_id;
  std::optional<std::string> action;
  std::optional<std::string> actor;
  std::optional<std::string> target;
  std::optional<AuditPlace> before;
  int limit = 0;
};

// Newest first, at most `limit`, behind the place `before`. Throws as InTransaction does.
std::vector<AuditRecord> ListAudit(Session& session, const AuditFilter& filter);

// An entry for what changes nothing in the database (a drain). Throws as InTransaction does.
void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry);

}  // namespace vedette::store
