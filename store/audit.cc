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
  tx.Exec<"audit_insert">(
      "id"_a = base::Uuid::V7(clock), "actor"_a = entry.actor, "action"_a = entry.action,
      "target"_a = entry.target, "org_id"_a = entry.org_id, "reason"_a = entry.reason,
      "detail"_a = detail, "remote_address"_a = entry.remote_address,
      "principal_kind"_a = PrincipalKindOf(entry), "principal_id"_a = PrincipalIdOf(entry),
      "on_behalf_of"_a = BehalfOf(entry));
}

}  // namespace vedette::store
