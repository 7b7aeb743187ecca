#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// Keys of the two HTTP servers, [api] and [admin], of [health] and of [log].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct HttpServerConfig {
  std::string listen;  // host:port; port 0 picks a free one
  int connections_max;
  std::size_t body_bytes_max;
  milliseconds idle_timeout_ms;              // keep-alive
  std::vector<std::string> trusted_proxies;  // CIDRs whose X-Forwarded-For says who asks

  // These have no keys. All drain times together stay below the 30 s that Kubernetes gives.
  std::size_t header_bytes_max = 16'384;
  milliseconds header_timeout_ms{10'000};  // from the first byte (or accept) to the header's end
  milliseconds body_timeout_ms{120'000};   // from the end of the header to the end of the body
  milliseconds write_timeout_ms{30'000};   // without progress
  milliseconds drain_timeout_ms{5'000};    // for requests in flight at shutdown

  bool operator==(const HttpServerConfig&) const = default;
};

// The admin port, of which a key says where it listens: few and trusted clients, small bodies.
inline HttpServerConfig AdminServer() {
  return {.listen = "",
          .connections_max = 256,
          .body_bytes_max = std::size_t{1} << 20,
          .idle_timeout_ms = milliseconds(75'000),
          .body_timeout_ms = milliseconds(30'000),
          .drain_timeout_ms = milliseconds(2'000)};
}

// What the public API keeps of its tenants' bytes in memory at once; keys of [api].
struct ApiMemoryConfig {
  std::size_t held_bytes_max;  // bodies, what is made of them, answers: of all requests together
  milliseconds held_wait_ms{20'000};  // the longest that a request waits for a share of it

  bool operator==(const ApiMemoryConfig&) const = default;
};

// Requests that wait for the end of a job; keys of [api].
struct WaitsConfig {
  int waits_max;              // of the process
  double waits_share = 0.25;  // of these that one organisation may have

  bool operator==(const WaitsConfig&) const = default;
};

// Previews of monitors; there are no keys.
struct PreviewsConfig {
  int previews_in_flight_max = 32;          // rows that are being looked at, of the process
  milliseconds preview_timeout_ms{20'000};  // the longest that a client waits for one preview

  bool operator==(const PreviewsConfig&) const = default;
};

struct HealthConfig {
  std::string listen;  // host:port of health and metrics alone; empty: no such port
  milliseconds drain_delay_ms;

  bool operator==(const HealthConfig&) const = default;
};

struct LogConfig {
  std::string level;   // trace, debug, info, warn, error
  std::string format;  // text, json

  bool operator==(const LogConfig&) const = default;
};

}  // namespace vedette::config
