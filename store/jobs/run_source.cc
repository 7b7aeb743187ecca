#include "store/jobs/run_source.h"

#include "store/sql.h"

namespace vedette::store {

std::optional<RunUpload> FindRunUpload(Session& session, const base::Uuid& org_id,
                                       const base::Uuid& upload_id, int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<RunUpload> {
    const auto found = tx.Exec<"run_upload">("upload_id"_a = upload_id, "org_id"_a = org_id,
                                             "part_rows"_a = part_rows);
    if (found.empty()) return std::nullopt;
    RunUpload upload;
    Columns(found[0]).Into("columns"_a = &upload.columns, "row_count"_a = &upload.row_count,
                           "part_count"_a = &upload.units, "parts"_a = &upload.parts);
    return upload;
  });
}

std::optional<UploadUnit> ReadUploadUnit(Session& session, const base::Uuid& upload_id, int unit,
                                         int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<UploadUnit> {
    const auto found = tx.Exec<"run_upload_unit">("upload_id"_a = upload_id, "unit"_a = unit,
                                                  "part_rows"_a = part_rows);
    if (found.empty()) return std::nullopt;
    UploadUnit read;
    Columns(found[0]).Into("first_line"_a = &read.first_line, "text"_a = &read.text,
                           "first_part"_a = &read.first_part);
    return read;
  });
}

std::set<std::string> ReadSeenKeys(Session& session, const base::Uuid& job_id, int block,
                                   const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<Column<"key_hashes", std::string>> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> seen;
    for (const auto& row :
         tx.Exec<"run_keys_seen">("job_id"_a = job_id, "block"_a = block, asked)) {
      std::string key;
      Columns(row).Into("key_hash"_a = BytesInto{&key});
      seen.insert(std::move(key));
    }
    return seen;
  });
}

std::set<std::string> ReadMonitorKeys(Session& session, const base::Uuid& monitor_id,
                                      const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<Column<"key_hashes", std::string>> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> known;
    for (const auto& row : tx.Exec<"run_monitor_keys_known">("monitor_id"_a = monitor_id, asked)) {
      std::string key;
      Columns(row).Into("key_hash"_a = BytesInto{&key});
      known.insert(std::move(key));
    }
    return known;
  });
}

}  // namespace vedette::store
