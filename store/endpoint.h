#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/uuid.h"

namespace vedette::store {

// Receivers of notifications: one for each scheme, host, port and path of an organisation, so that
// one path that fails slows nothing that goes to another path of its host.

// The receiver that a webhook_url names.
struct EndpointAddress {
  std::string scheme;
  std::string host;
  int port = 0;
  std::string path;  // without the query; empty is "/"
};

struct Webhook {
  std::string url;
  EndpointAddress endpoint;
};

// The place where a monitor's notifications go now.
struct DeliveryTarget {
  std::optional<base::Uuid> endpoint_id;  // empty, like the url: nowhere
  std::optional<std::string> url;
  std::optional<std::string> metadata;  // JSON
};
using DeliveryTargets = std::map<base::Uuid, DeliveryTarget>;  // by monitor

}  // namespace vedette::store
