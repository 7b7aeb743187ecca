#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/search/document.h"
#include "domain/search/fields.h"
#include "store/audit.h"
#include "store/session.h"

// Documents come in batches, each a transaction that can be repeated, and become visible at once by
// the last one. The states are domain::search::ImportState's.
namespace vedette::store {

struct ImportTarget {
  base::Uuid import_id;  // the caller's
  domain::search::Mode mode = domain::search::Mode::kCompany;
  std::optional<base::Uuid> org_id;  // empty: everybody's documents
};

struct ImportProgress {
  domain::search::ImportState state = domain::search::ImportState::kReceiving;
  std::int64_t lines = 0;                 // received
  std::optional<std::int64_t> documents;  // different ones; once it is current
};
struct ImportOrgNotFound {};
struct ImportOfAnother {};  // the id is that of an import of another mode or organisation
using ImportOutcome = std::variant<ImportProgress, ImportOrgNotFound, ImportOfAnother>;

// Takes a batch whose first line is the line `first_line` of the file, counted from 0, where that
// is how many lines there are already; otherwise nothing is changed and the progress says where to
// go on, so that a batch may be sent again. A document replaces a former one with its id. `lines`
// counts blank ones, too. Throws as InTransaction does.
ImportOutcome TakeDocuments(Session& session, const ImportTarget& target, std::int64_t first_line,
                            std::int64_t lines, std::vector<domain::search::Document> documents);

// Counts the fields that are not counted yet, one after the other, until all are or `time` has
// passed; with the last one the import becomes current, takes the place of the former one, and is
// written to the audit. Called again until it is current. One field may take several minutes.
ImportProgress FinishImport(Session& session, const base::Clock& clock, const ImportTarget& target,
                            const domain::search::Fields& fields, std::chrono::milliseconds time,
                            const AuditEntry& audit);

}  // namespace vedette::store
