#include "store/monitors/uploads.h"

#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// An organisation's files that no monitor was made from.
struct Unused {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

Unused ReadUnused(Transaction& tx, const base::Uuid& org_id) {
  Unused unused;
  Columns(tx.Exec<"upload_unused">("org_id"_a = org_id).at(0))
      .Into("files"_a = &unused.files, "bytes"_a = &unused.bytes);
  return unused;
}

}  // namespace

std::optional<base::Uuid> BeginUpload(Session& session, const base::Clock& clock,
                                      const base::Uuid& org_id, const UploadLimits& limits) {
  const base::Uuid id = base::Uuid::V7(clock);
  return InTransaction(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const Unused unused = ReadUnused(tx, org_id);
    if (unused.files >= limits.unused_max || unused.bytes >= limits.unused_bytes_max) {
      return std::nullopt;
    }
    tx.Exec<"upload_insert">("id"_a = id, "org_id"_a = org_id, "kept_h"_a = limits.kept.count());
    return id;
  });
}

std::int64_t AddUploadPart(Session& session, const base::Uuid& upload_id, const UploadPart& part) {
  return InTransaction(
      session,
      [&](Transaction& tx) -> std::int64_t {
        tx.Exec<"upload_part_insert">("upload_id"_a = upload_id, "part"_a = part.part,
                                      "first_line"_a = part.first_line,
                                      "row_count"_a = part.row_count, "text"_a = part.text);
        const auto org_id = ReadFirst<base::Uuid>(
            tx.Exec<"upload_grow">("upload_id"_a = upload_id, "size"_a = part.text.size()));
        return org_id ? ReadUnused(tx, *org_id).bytes : 0;
      },
      Durability::kAsync);
}

std::optional<base::Timestamp> FinishUpload(Session& session, const base::Uuid& upload_id,
                                            const std::vector<std::string>& columns,
                                            std::int64_t row_count, int part_count,
                                            const base::Clock& clock, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto expires_at = ReadFirst<base::Timestamp>(
        tx.Exec<"upload_finish">("upload_id"_a = upload_id, "columns"_a = columns,
                                 "row_count"_a = row_count, "part_count"_a = part_count));
    if (expires_at) InsertAudit(tx, clock, audit);
    return expires_at;
  });
}

void DeleteUpload(Session& session, const base::Uuid& upload_id) {
  InTransaction(session,
                [&](Transaction& tx) { tx.Exec<"upload_delete">("upload_id"_a = upload_id); });
}

std::optional<Upload> FindUpload(Session& session, const base::Uuid& org_id,
                                 const base::Uuid& upload_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<Upload> {
    const auto found = tx.Exec<"upload_get">("upload_id"_a = upload_id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    Upload upload;
    Columns(found.at(0))
        .Into("columns"_a = &upload.columns, "row_count"_a = &upload.row_count,
              "expires_at"_a = &upload.expires_at);
    return upload;
  });
}

}  // namespace vedette::store
