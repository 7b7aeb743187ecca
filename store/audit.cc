#include "store/audit.h"

#include "store/audit_sql.h"

namespace vedette::store {

void InsertAudit(Transaction& tx, const base::Clock& clock, const AuditEntry& entry) {
  std::optional<std::string> detail;
  if (entry.detail) detail = base::DumpJson(*entry.detail);
  tx.Exec("audit_insert", base::Uuid::V7(clock), entry.actor, entry.action, entry.target,
          entry.org_id, entry.reason, detail, entry.remote_address);
}

}  // namespace vedette::store
