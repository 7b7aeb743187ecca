#pragma once

#include <string>

#include "base/uuid.h"

namespace vedette::store {

// A monitor that began to fail with a tick that was closed (every check that was made in it
// failed), or in which a check completes again.
struct HealthTurn {
  base::Uuid monitor_id;
  base::Uuid org_id;
  bool fails = false;
  // Of a check that failed, where the process that closed the tick knows one: the class, and where
  // its row is looked at ("https://shop.example"). The store leaves both empty.
  std::string failure_class{};
  std::string address{};
};

}  // namespace vedette::store
