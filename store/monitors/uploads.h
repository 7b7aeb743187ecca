#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/audit.h"
#include "store/session.h"

namespace vedette::store {

// Uploaded CSV files: received part by part, kept until they expire, read by the imports that make
// monitors of them.

struct UploadLimits {
  std::chrono::hours kept;
  // The number of an organisation's files from which no monitor was made, unfinished ones included.
  int unused_max;
  std::int64_t unused_bytes_max;
};
// An upload is of use once FinishUpload has returned; one that is broken off expires. Empty where
// the organisation has as many unused files, or bytes in them, as it may have. Calls at the same
// moment may each find room for one.
std::optional<base::Uuid> BeginUpload(Session& session, const base::Clock& clock,
                                      const base::Uuid& org_id, const UploadLimits& limits);

struct UploadPart {
  int part = 0;                 // 0, 1, 2, ...
  std::int64_t first_line = 0;  // of the file
  int row_count = 0;
  std::string text;  // whole records
};
// Survives a crash of the database once FinishUpload has returned, not before. Returns the bytes of
// the organisation's unused files, with this part.
std::int64_t AddUploadPart(Session& session, const base::Uuid& upload_id, const UploadPart& part);

// When it expires. Empty when there is no such upload any more, and then nothing is audited. Throws
// OrganisationAway (store/place.h): a file may take longer than a move.
std::optional<base::Timestamp> FinishUpload(Session& session, const base::Uuid& upload_id,
                                            const std::vector<std::string>& columns,
                                            std::int64_t row_count, int part_count,
                                            const base::Clock& clock, const AuditEntry& audit);

void DeleteUpload(Session& session, const base::Uuid& upload_id);

struct Upload {
  std::vector<std::string> columns;
  std::int64_t row_count = 0;
  base::Timestamp expires_at;
};
// Empty when it is unknown, unfinished, expired or another organisation's.
std::optional<Upload> FindUpload(Session& session, const base::Uuid& org_id,
                                 const base::Uuid& upload_id);

enum class ImportStep {
  kNothing,    // no monitor is starting
  kAdded,      // a part's rows were added; more follow
  kActivated,  // the last ones were: the monitor's first tick is due, raise Signal::kDue
  kFailed,  // a row broke a rule, or its part could not be added, in ten tries with growing waits
            // between them: the monitor is `failed`, its disabled_reason names the line
};

// Adds the rows of one part of an uploaded file to the starting monitor whose turn it is: one
// transaction, so that a crash neither loses nor repeats rows. Any number of processes may call it
// at once. Call again at once unless it gave kNothing.
// Throws where adding a part failed and will be tried again.
ImportStep ImportBatch(Session& session, const base::Clock& clock);

}  // namespace vedette::store
