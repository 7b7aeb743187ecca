#include "store/audit.h"

#include "store/audit_sql.h"

namespace vedette::store {
namespace {

std::optional<domain::PrincipalKind> PrincipalKindOf(const AuditEntry& entry) {
  if (!entry.principal) return std::nullopt;
  return entry.principal->kind;
}

std::optional<base::Uuid> PrincipalIdOf(const AuditEntry& entry) {
  if (!entry.principal) return std::nullopt;
  return entry.principal->id;
}

std::optional<std::string> BehalfOf(const AuditEntry& entry) {
  return entry.principal ? entry.principal->on_behalf_of : std::nullopt;
}

}  // namespace

void InsertAudit(Transaction& tx, const base::Clock& clock, const AuditEntry& entry) {
  std::optional<std::string> detail;
  if (entry.detail) detail = entry.detail->Text();
  tx.Exec("audit_insert", base::Uuid::V7(clock), entry.actor, entry.action, entry.target,
          entry.org_id, entry.reason, detail, entry.remote_address, PrincipalKindOf(entry),
          PrincipalIdOf(entry), BehalfOf(entry));
}

}  // namespace vedette::store
