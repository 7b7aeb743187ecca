#include "store/audit.h"

#include <utility>

#include "store/sql.h"

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
  tx.ExecLater<"audit_insert">(
      "id"_a = base::Uuid::V7(clock), "actor"_a = entry.actor, "action"_a = entry.action,
      "target"_a = entry.target, "org_id"_a = entry.org_id, "reason"_a = entry.reason,
      "detail"_a = detail, "remote_address"_a = entry.remote_address,
      "principal_kind"_a = PrincipalKindOf(entry), "principal_id"_a = PrincipalIdOf(entry),
      "on_behalf_of"_a = BehalfOf(entry));
}

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
         tx.Exec<"audit_list">("at"_a = at, "id"_a = id, "limit"_a = filter.limit,
         "org_id"_a = filter.org_id, "principal_id"_a = filter.principal_id,
         "action"_a = filter.action, "actor"_a = filter.actor, "target"_a = filter.target)) {
      AuditRecord& record = records.emplace_back();
      std::optional<std::string> detail;
      Columns(row).Into(
          "id"_a = &record.id, "at"_a = &record.at, "actor"_a = &record.actor,
          "action"_a = &record.action, "target"_a = &record.target, "org_id"_a = &record.org_id,
          "reason"_a = &record.reason, "detail"_a = &detail,
          "remote_address"_a = &record.remote_address, "principal_kind"_a = &record.principal_kind,
          "principal_id"_a = &record.principal_id, "on_behalf_of"_a = &record.on_behalf_of);
      if (detail) record.detail.emplace(*std::move(detail));
    }
    return records;
  });
}

void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry) {
  InTransaction(session, [&](Transaction& tx) { InsertAudit(tx, clock, entry); });
}

}  // namespace vedette::store
