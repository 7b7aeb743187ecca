#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "store/session.h"

// What blocks of a run read while they work, besides the parts of their inputs. All functions throw
// as InTransaction does.
namespace vedette::store {

// An uploaded file as the source of a run.
struct RunUpload {
  std::vector<std::string> columns;
  std::int64_t row_count = 0;
  int units = 0;  // pieces of it, each of which is read as one
  int parts = 0;  // of rows that they make
};
// Empty when it is unknown, unfinished, expired or another organisation's. `part_rows`: rows of a
// part, at most.
std::optional<RunUpload> FindRunUpload(Session& session, const base::Uuid& org_id,
                                       const base::Uuid& upload_id, int part_rows);

struct UploadUnit {
  std::int64_t first_line = 0;  // of the file
  std::string text;             // whole records
  int first_part = 0;           // that its rows make
};
// Empty when it is gone.
std::optional<UploadUnit> ReadUploadUnit(Session& session, const base::Uuid& upload_id, int unit,
                                         int part_rows);

// Which of these keys (16 bytes each) a block `dedupe` has seen in the parts that were recorded.
std::set<std::string> ReadSeenKeys(Session& session, const base::Uuid& job_id, int block,
                                   const std::vector<std::string>& keys);

// Which of these keys (domain::RowValues::key_hash) the monitor has that a block of a run makes.
std::set<std::string> ReadMonitorKeys(Session& session, const base::Uuid& monitor_id,
                                      const std::vector<std::string>& keys);

}  // namespace vedette::store
