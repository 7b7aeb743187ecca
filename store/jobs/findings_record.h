#pragma once

#include <optional>
#include <vector>

#include "store/jobs/end_sql.h"
#include "store/jobs/record.h"
#include "store/sql.h"

// Internal to store/jobs: what the records of an investigation do beside those of other jobs.
namespace vedette::store {

struct RecordedFindings {
  // As they were given, but a part that ended has the entities that the next block looks at in
  // place of what its rows found.
  std::vector<JobChunkRecord> records;
  // Everything that may be found is.
  std::optional<JobEnding> ending;
};

// Keeps the findings of these rows whose ids are new, up to the investigation's findings_max, and
// numbers them without gaps. Rows that an earlier record had are found out by the ids of their
// findings, so that each is kept once. Locks the investigation, of which the job is locked already.
RecordedFindings RecordFindings(Transaction& tx, const base::Uuid& job_id,
                                const std::vector<const JobChunkRecord*>& records);

}  // namespace vedette::store
