#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Keys of the two HTTP servers, [api] and [admin], and of [health].
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct HttpServerConfig {
  std::string listen;  // host:port; port 0 picks a free one
  int connections_max;
  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
  milliseconds header_timeout_ms;  // from the first byte (or accept) to the end of the header
  milliseconds body_timeout_ms;    // from the end of the header to the end of the body
  milliseconds write_timeout_ms;   // without progress
  milliseconds idle_timeout_ms;    // keep-alive
  milliseconds drain_timeout_ms;   // for requests in flight at shutdown

  bool operator==(const HttpServerConfig&) const = default;
};

// What the public API keeps of its tenants' bytes in memory at once; keys of [api].
struct ApiMemoryConfig {
  std::size_t held_bytes_max;  // bodies, what is made of them, answers: of all requests together
  milliseconds held_wait_ms;   // the longest that a request waits for a share of it

  bool operator==(const ApiMemoryConfig&) const = default;
};

// Requests that wait for the end of a job; keys of [api].
struct WaitsConfig {
  int waits_max;       // of the process
  double waits_share;  // of these that one organisation may have

  bool operator==(const WaitsConfig&) const = default;
};

// Previews of monitors; keys of [api].
struct PreviewsConfig {
  int previews_in_flight_max;       // rows that are being looked at, of the process
  milliseconds preview_timeout_ms;  // the longest that a client waits for one preview

  bool operator==(const PreviewsConfig&) const = default;
};

struct HealthConfig {
  std::string listen;  // host:port of health and metrics alone; empty: no such port
  milliseconds drain_delay_ms;

  bool operator==(const HealthConfig&) const = default;
};

}  // namespace vedette::config
