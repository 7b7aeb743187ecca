#include "store/uploads.h"

#include "store/sql.h"

namespace vedette::store {

std::optional<base::Uuid> BeginUpload(Session& session, const base::Clock& clock,
                                      const base::Uuid& org_id, const UploadLimits& limits) {
  const base::Uuid id = base::Uuid::V7(clock);
  return InTransaction(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const auto unused = tx.Exec("upload_unused", org_id)[0];
    if (unused["files"].as<std::int64_t>() >= limits.unused_max ||
        unused["bytes"].as<std::int64_t>() >= limits.unused_bytes_max) {
      return std::nullopt;
    }
    tx.Exec("upload_insert", id, org_id, limits.kept.count());
    return id;
  });
}

std::int64_t AddUploadPart(Session& session, const base::Uuid& upload_id, const UploadPart& part) {
  return InTransaction(
      session,
      [&](Transaction& tx) -> std::int64_t {
        tx.Exec("upload_part_insert", upload_id, part.part, part.first_line, part.row_count,
                part.text);
        const auto grown = tx.Exec("upload_grow", upload_id, part.text.size());
        if (grown.empty()) return 0;
        return tx.Exec("upload_unused", ReadUuid(grown[0][0]))[0]["bytes"].as<std::int64_t>();
      },
      Durability::kAsync);
}

std::optional<base::Timestamp> FinishUpload(Session& session, const base::Uuid& upload_id,
                                            const std::vector<std::string>& columns,
                                            std::int64_t row_count, int part_count) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<base::Timestamp> {
    const auto done = tx.Exec("upload_finish", upload_id, columns, row_count, part_count);
    if (done.empty()) return std::nullopt;
    return ReadTime(done[0][0]);
  });
}

void DeleteUpload(Session& session, const base::Uuid& upload_id) {
  InTransaction(session, [&](Transaction& tx) { tx.Exec("upload_delete", upload_id); });
}

std::optional<Upload> FindUpload(Session& session, const base::Uuid& org_id,
                                 const base::Uuid& upload_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<Upload> {
    const auto found = tx.Exec("upload_get", upload_id, org_id);
    if (found.empty()) return std::nullopt;
    return Upload{ReadTextArray(found[0]["columns"]), found[0]["row_count"].as<std::int64_t>(),
                  ReadTime(found[0]["expires_at"])};
  });
}

int DeleteExpiredUploads(Session& session, int uploads_max) {
  return InTransaction(session, [&](Transaction& tx) {
    return static_cast<int>(tx.Exec("upload_delete_expired", uploads_max).affected_rows());
  });
}

}  // namespace vedette::store
