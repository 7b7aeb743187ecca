#include "store/jobs/run_source.h"

#include "store/sql.h"

namespace vedette::store {

std::optional<RunUpload> FindRunUpload(Session& session, const base::Uuid& org_id,
                                       const base::Uuid& upload_id, int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<RunUpload> {
    const auto found = tx.Exec("run_upload", upload_id, org_id, part_rows);
    if (found.empty()) return std::nullopt;
    RunUpload upload;
    Columns(found[0]).Into(&upload.columns, &upload.row_count, &upload.units, &upload.parts);
    return upload;
  });
}

std::optional<UploadUnit> ReadUploadUnit(Session& session, const base::Uuid& upload_id, int unit,
                                         int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<UploadUnit> {
    const auto found = tx.Exec("run_upload_unit", upload_id, unit, part_rows);
    if (found.empty()) return std::nullopt;
    UploadUnit read;
    Columns(found[0]).Into(&read.first_line, &read.text, &read.first_part);
    return read;
  });
}

std::set<std::string> ReadSeenKeys(Session& session, const base::Uuid& job_id, int block,
                                   const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<std::string> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> seen;
    for (const auto& row : tx.Exec("run_keys_seen", job_id, block, asked)) {
      std::string key;
      Columns(row).Into(BytesInto{&key});
      seen.insert(std::move(key));
    }
    return seen;
  });
}

std::set<std::string> ReadMonitorKeys(Session& session, const base::Uuid& monitor_id,
                                      const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<std::string> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> known;
    for (const auto& row : tx.Exec("run_monitor_keys_known", monitor_id, asked)) {
      std::string key;
      Columns(row).Into(BytesInto{&key});
      known.insert(std::move(key));
    }
    return known;
  });
}

}  // namespace vedette::store
