#pragma once

#include <string>

// Receivers of notifications: one for each scheme, host and port of an organisation.
namespace vedette::store {

// The receiver that a webhook_url names.
struct EndpointAddress {
  std::string scheme;
  std::string host;
  int port = 0;
};

struct Webhook {
  std::string url;
  EndpointAddress endpoint;
};

}  // namespace vedette::store
