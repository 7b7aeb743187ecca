#pragma once

#include "base/uuid.h"

namespace vedette::store {

// A monitor that began to fail with a tick that was closed (every check that was made in it
// failed), or in which a check completes again.
struct HealthTurn {
  base::Uuid monitor_id;
  base::Uuid org_id;
  bool fails = false;
};

}  // namespace vedette::store
