#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/uuid.h"

namespace vedette::store {

// Where a monitor's notifications go now.
struct DeliveryTarget {
  std::optional<base::Uuid> endpoint_id;  // empty, like the url: nowhere
  std::optional<std::string> url;
  std::optional<std::string> metadata;  // JSON
};
using DeliveryTargets = std::map<base::Uuid, DeliveryTarget>;  // by monitor

}  // namespace vedette::store
