#pragma once

#include <functional>

#include "domain/observation.h"
#include "pages/fetch.h"

// Pages that are asked for on behalf of a row.
namespace vedette::worker {

// Fetches as pages::Fetcher does, but sends none of the page's requests for a row that nobody waits
// for any more: `may_call` (as of RowRequest; empty: yes) is asked when the request has its turn at
// the host, which may be long after the fetch has begun. Where it says no, the failure is
// kLookupUnheld.
void FetchHeld(pages::Fetcher& fetcher, pages::FetchRequest request,
               const std::function<bool()>& may_call, pages::ReadPage read,
               std::function<void(pages::Fetched)> done);

// Whether a failure of FetchHeld says nothing of the page: it is this process's, or kLookupUnheld.
bool SaysNothing(const domain::Failure& failure);

}  // namespace vedette::worker
