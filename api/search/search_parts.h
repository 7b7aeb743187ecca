#pragma once

#include "api/search/search_engine.h"
#include "domain/search/fields.h"
#include "store/session.h"

namespace vedette::api {

// What counting the values of fields needs; app fills it in. All of it must outlive every request.
struct SearchParts {
  const domain::search::Catalogue& fields;
  // [search] backend says which of the two there is; where it is empty there is neither, and
  // nothing is counted. The pool has connections of its own, so that counts take none from other
  // requests.
  store::Pool* pool = nullptr;
  SearchEngine* engine = nullptr;
};

}  // namespace vedette::api
