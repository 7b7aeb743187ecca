#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/search/documents.h"
#include "domain/search/fields.h"
#include "domain/search/filter.h"
#include "store/audit.h"
#include "store/session.h"

// The values that documents have in a field, and how many documents have each.
namespace vedette::store {

// The count did not end in its time; nothing is wrong with it.
class SearchTimedOut : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ValuesQuestion {
  domain::search::Mode mode = domain::search::Mode::kCompany;
  base::Uuid org_id;  // of the caller, who sees the shared documents and this organisation's (G8)
  // A field without whole values has no value listed, and documents with any are counted.
  const domain::search::Field* field = nullptr;
  domain::search::Filter filter;
  std::vector<std::string> excluded_ids{};  // of documents that are not counted
  int values_max = 25;
};

// Values that an import counts for each field, and so the most that a question may ask for.
inline constexpr int kTopValuesMax = 100;

// The answer to a question about all documents of one import: what was counted when they were
// imported, with `fields`. One row by its key. Nothing where the question is another one. Throws as
// InTransaction does.
std::optional<domain::search::TopValues> ReadImportedValues(Session& session,
                                                            const domain::search::Fields& fields,
                                                            const ValuesQuestion& question);

// What domain::search::CountValues gives for the documents that the caller sees and the question
// does not exclude: they are read. Throws SearchTimedOut after `timeout`, and as InTransaction
// does.
domain::search::TopValues CountFieldValues(Session& session, const ValuesQuestion& question,
                                           std::chrono::milliseconds timeout);

// Documents come in batches, each a transaction that can be repeated, and become visible at once by
// the last one. The states are domain::search::ImportState's.

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
