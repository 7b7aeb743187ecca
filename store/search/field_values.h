#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/search/evaluate.h"
#include "domain/search/fields.h"
#include "domain/search/filter.h"
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

}  // namespace vedette::store
