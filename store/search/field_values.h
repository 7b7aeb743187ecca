#pragma once

#include <chrono>
#include <stdexcept>

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
  const domain::search::Field* field = nullptr;  // it has values
  domain::search::Filter filter;
  int values_max = 25;
};

// Values that an import counts for each field, and so the most that a question may ask for.
inline constexpr int kTopValuesMax = 100;

// What domain::search::CountValues gives for the documents that the caller sees. A question about
// all documents of one import is answered from what was counted when they were imported, with
// `fields`. Throws SearchTimedOut after `timeout`, and as InTransaction does.
domain::search::TopValues ReadFieldValues(Session& session, const domain::search::Fields& fields,
                                          const ValuesQuestion& question,
                                          std::chrono::milliseconds timeout);

}  // namespace vedette::store
