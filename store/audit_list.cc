#include "store/audit_list.h"

#include <utility>

#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {

std::vector<AuditRecord> ListAudit(Session& session, const std::optional<AuditPlace>& before,
                                   int limit) {
  std::optional<base::Timestamp> at;
  std::optional<base::Uuid> id;
  if (before) {
    at = before->at;
    id = before->id;
  }
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<AuditRecord> records;
    for (const auto& row : tx.Exec("audit_list", at, id, limit)) {
      AuditRecord record;
      record.id = ReadUuid(row["id"]);
      record.at = ReadTime(row["at"]);
      record.actor = row["actor"].as<std::string>();
      record.action = row["action"].as<std::string>();
      record.target = row["target"].as<std::string>();
      record.org_id = ReadUuidOrNull(row["org_id"]);
      record.reason = ReadTextOrNull(row["reason"]);
      if (const auto detail = ReadTextOrNull(row["detail"])) {
        record.detail = base::ParseJsonOrThrow(*detail);
      }
      record.remote_address = row["remote_address"].as<std::string>();
      records.push_back(std::move(record));
    }
    return records;
  });
}

void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry) {
  InTransaction(session, [&](Transaction& tx) { InsertAudit(tx, clock, entry); });
}

}  // namespace vedette::store
