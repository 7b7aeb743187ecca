#pragma once

#include <optional>

#include "base/uuid.h"

namespace vedette::store {

// Whose things are visible to a caller: those of one organisation, or of one of its teams, as the
// API key says; everything for the admin port (both empty). What is out of scope does not exist for
// the caller (G8).
struct Scope {
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> team_id;
};

}  // namespace vedette::store
