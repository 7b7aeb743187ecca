#pragma once

#include "domain/search/fields.h"
#include "store/session.h"

namespace vedette::api {

// What counting the values of fields needs; app fills it in. Both must outlive every request.
struct SearchParts {
  const domain::search::Catalogue& fields;
  // Connections of its own, so that counts take none from other requests. Null: [search] backend is
  // empty, and nothing is counted.
  store::Pool* pool = nullptr;
};

}  // namespace vedette::api
