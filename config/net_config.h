#pragma once

#include <chrono>
#include <string>
#include <vector>

// Keys of [net], outgoing connections, and of the two HTTP servers, [api] and [admin], with
// [health]. config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct NetConfig {
  std::vector<std::string> allow;        // CIDRs that tenants' URLs may reach although not public
  std::vector<std::string> dns_servers;  // empty: the system's
  std::string ca_file;                   // empty: the system's bundle
  std::string proxy;                     // empty: none; never taken from the environment
  std::string contact;                   // that the user agent names; empty: none
  int connections_max;                   // of the outgoing client, all hosts together

  // These have no keys.
  std::string user_agent = "vedette";  // of the web probe
  milliseconds connect_timeout_ms{5'000};
  int connections_per_host_max = 256;

  bool operator==(const NetConfig&) const = default;
};

}  // namespace vedette::config
