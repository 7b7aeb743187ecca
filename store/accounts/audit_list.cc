#include "store/accounts/audit_list.h"

#include <utility>

#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {

std::vector<AuditRecord> ListAudit(Session& session, const AuditFilter& filter) {
  std::optional<base::Timestamp> at;
  std::optional<base::Uuid> id;
  if (filter.before) {
    at = filter.before->at;
    id = filter.before->id;
  }
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<AuditRecord> records;
    for (const auto& row :
         tx.Exec("audit_list", at, id, filter.limit, filter.org_id, filter.principal_id,
                 filter.action, filter.actor, filter.target)) {
      AuditRecord& record = records.emplace_back();
      std::optional<std::string> detail;
      Columns(row).Into(&record.id, &record.at, &record.actor, &record.action, &record.target,
                        &record.org_id, &record.reason, &detail, &record.remote_address,
                        &record.principal_kind, &record.principal_id, &record.on_behalf_of);
      if (detail) record.detail.emplace(*std::move(detail));
    }
    return records;
  });
}

void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry) {
  InTransaction(session, [&](Transaction& tx) { InsertAudit(tx, clock, entry); });
}

}  // namespace vedette::store
