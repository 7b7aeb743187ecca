#pragma once

#include <string>

// Receivers of notifications: one for each scheme, host, port and path of an organisation, so that
// one path that fails slows nothing that goes to another path of its host.
namespace vedette::store {

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

}  // namespace vedette::store
