#pragma once

#include <chrono>
#include <string>
#include <vector>

// Keys of [net]: outgoing connections.
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct NetConfig {
  std::vector<std::string> allow;        // CIDRs that tenants' URLs may reach although not public
  std::vector<std::string> dns_servers;  // empty: the system's
  std::string ca_file;                   // empty: the system's bundle
  std::string proxy;                     // empty: none; never taken from the environment
  std::string user_agent;                // of the web probe
  std::string contact;                   // that the user agent names; empty: none
  milliseconds connect_timeout_ms;
  int connections_max;  // of the outgoing client, all hosts together
  int connections_per_host_max;

  bool operator==(const NetConfig&) const = default;
};

}  // namespace vedette::config
