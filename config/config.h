#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The typed configuration. Every limit, timeout and size of the system has its name here; the
// defaults and their explanation stand in config.default.toml, which is compiled in. A value type:
// built once by LoadConfig, then passed down by const reference.
namespace vedette::config {

using std::chrono::milliseconds;

struct DatabaseConfig {
  std::string url;  // libpq connection string or URI
  milliseconds connect_timeout_ms;
  milliseconds statement_timeout_ms;
  milliseconds lock_timeout_ms;
  milliseconds idle_in_transaction_timeout_ms;
  milliseconds tcp_user_timeout_ms;
  // First and longest wait between attempts to reconnect.
  milliseconds reconnect_first_ms;
  milliseconds reconnect_max_ms;
  // Connections, and threads, per role.
  int api_connections;
  int admin_connections;
  int scheduler_connections;
  int worker_connections;
  int delivery_connections;
  // Jobs that may wait for a connection, per role; over it the caller is refused.
  int queue_max;

  bool operator==(const DatabaseConfig&) const = default;
};

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

struct HealthConfig {
  std::string listen;  // host:port of health and metrics alone; empty: no such port
  milliseconds drain_delay_ms;

  bool operator==(const HealthConfig&) const = default;
};

struct SecurityConfig {
  // 32 bytes, decoded from 64 hex digits; empty when not set. Its id is the first 8 hex digits of
  // its SHA-256, computed where it is used.
  std::string encryption_key;
  // Former keys, for reading only.
  std::vector<std::string> encryption_keys_old;

  bool operator==(const SecurityConfig&) const = default;
};

struct NetConfig {
  std::vector<std::string> allow;        // CIDRs that tenants' URLs may reach although not public
  std::vector<std::string> dns_servers;  // empty: the system's
  std::string ca_file;                   // empty: the system's bundle
  std::string proxy;                     // empty: none; never taken from the environment
  std::string user_agent;                // of the web probe
  milliseconds connect_timeout_ms;
  int connections_max;  // of the outgoing client, all hosts together
  int connections_per_host_max;

  bool operator==(const NetConfig&) const = default;
};

struct LogConfig {
  std::string level;   // trace, debug, info, warn, error
  std::string format;  // text, json

  bool operator==(const LogConfig&) const = default;
};

// How one tier is observed.
struct ProbeConfig {
  std::string kind;  // web, http, llm, null (benchmarks only)
  std::string url;
  std::string model;
  std::string api_key;         // from api_key or api_key_file
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms;     // bounds one attempt
  int attempts_max;            // attempts within the check's deadline
  milliseconds deadline_ms;    // bounds the check, retries included; at most 10 minutes
  std::size_t body_bytes_max;
  // Of the model (kind llm, and web with a model).
  std::optional<double> temperature;  // empty: not sent
  int tokens_max;                     // of one answer
  std::string tokens_max_field;       // how the model's server calls it
  std::string answer_format;          // json_schema, json_object, text
  std::size_t page_text_bytes_max;    // of a page's text given to the model; 0 = none is fetched
  double change_share;                // of the checks of kind null that see new values

  bool operator==(const ProbeConfig&) const = default;
};

struct LimitsConfig {
  int requests_per_minute;                            // per API key, over the whole fleet; 0 = off
  std::optional<std::chrono::seconds> frequency_min;  // replaces the lower bound for everyone
  int rows_per_request_max;
  std::int64_t rows_per_monitor_max;
  int struct_fields_max;
  int name_chars_max;
  std::size_t metadata_bytes_max;
  std::size_t struct_bytes_max;  // names and descriptions together, as JSON
  std::size_t row_bytes_max;     // one row's columns as JSON
  // Of one organisation: uploaded files that no monitor was made from, and their bytes.
  int uploads_unused_max;
  std::size_t uploads_unused_bytes_max;
  int signing_secrets_live_max;

  bool operator==(const LimitsConfig&) const = default;
};

struct RetentionConfig {
  std::chrono::hours events;
  std::chrono::hours check_log;
  std::chrono::hours attempts;
  std::chrono::hours dead;
  std::chrono::hours audit;
  std::chrono::hours idempotency_keys;
  std::chrono::hours uploads;

  bool operator==(const RetentionConfig&) const = default;
};

struct SchedulerConfig {
  milliseconds poll_ms;      // safety net behind notifications
  int monitors_per_cut_max;  // due monitors in one transaction
  int rows_per_cut_max;      // rows of one monitor in one transaction; the rest follows as portions
  int spread_rows_min;
  double spread;  // share of the period
  milliseconds maintenance_ms;

  bool operator==(const SchedulerConfig&) const = default;
};

struct WorkerConfig {
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds control_read_ms;     // how often pauses are read
  milliseconds control_age_max_ms;  // older knowledge starts no check (G5)
  int checks_in_flight_max;
  int rows_ahead_max;     // rows claimed beyond what can be in flight
  double newcomer_share;  // of both that an organisation that is alone leaves free
  int chunk_rows_max;
  milliseconds chunk_duration_target_ms;  // a chunk's size follows from it and the checks' duration
  int claims_max;                         // deaths before a chunk is halved
  int orgs_per_walk_max;
  milliseconds record_delay_ms;          // how long results of finished chunks are gathered
  milliseconds record_partial_delay_ms;  // and those of chunks that go on
  int record_checks_max;                 // results in one transaction
  milliseconds drain_timeout_ms;
  int probe_threads;                       // that one organisation may occupy; one more for others
  int per_host_max;                        // pages being fetched from one host
  milliseconds per_host_gap_ms;            // between the starts of two of them
  std::size_t pages_remembered_bytes_max;  // of what was seen on pages that name their version
  std::size_t pages_held_bytes_max;        // of pages and answers that are fetched or read now
  std::size_t questions_held_bytes_max;    // of what services and models are asked now

  bool operator==(const WorkerConfig&) const = default;
};

struct DeliveryConfig {
  milliseconds timeout_ms;  // one attempt, everything included
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds backoff_first_ms;
  milliseconds backoff_max_ms;
  milliseconds backoff_window_ms;
  double backoff_jitter;            // +- share
  milliseconds breaker_age_max_ms;  // how long deliveries may wait behind an open breaker
  int in_flight_max;
  int in_flight_per_endpoint_max;
  int slow_in_flight_max;
  int tests_in_flight_max;     // webhook tests under way in one process
  milliseconds slow_after_ms;  // an attempt under way for longer makes its receiver slow
  int breaker_failures;        // in a row, until it opens
  milliseconds breaker_interval_ms;
  std::size_t answer_bytes_max;
  milliseconds settle_delay_ms;
  int settle_max;
  milliseconds drain_timeout_ms;

  bool operator==(const DeliveryConfig&) const = default;
};

// For the project's own tests: faults that a process does to itself, and safeties switched off.
struct TestingConfig {
  struct FaultPoint {
    std::string point;   // after_claim, ...: store/testing.cc says where each lies
    std::string action;  // kill, stop: the signal that the process sends to itself
    double probability;  // each time the point is passed

    bool operator==(const FaultPoint&) const = default;
  };
  std::vector<FaultPoint> fault_points;
  std::int64_t fault_seed;
  std::vector<std::string> disable;  // lease_fence, row_fence, reservation, lease_renewal

  bool any() const { return !fault_points.empty() || !disable.empty(); }
  bool operator==(const TestingConfig&) const = default;
};

struct Config {
  DatabaseConfig database;
  HttpServerConfig api;
  ApiMemoryConfig api_memory;
  HttpServerConfig admin;
  std::map<std::string, std::string> admin_tokens;  // name -> token
  HealthConfig health;
  SecurityConfig security;
  NetConfig net;
  LogConfig log;
  std::map<std::string, ProbeConfig> probes;      // micro, low, medium, high: always all four
  std::map<std::string, std::int64_t> prices_mc;  // the same names; millicredits per check
  LimitsConfig limits;
  RetentionConfig retention;
  SchedulerConfig scheduler;
  WorkerConfig worker;
  DeliveryConfig delivery;
  TestingConfig testing;

  bool operator==(const Config&) const = default;
};

// What is wrong with the configuration: names the key as the reader wrote it ("[limits] foo" or
// "VEDETTE_LIMITS_FOO"), the value, and what is allowed.
class ConfigError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The compiled-in config.default.toml.
std::string_view DefaultConfigText();

// One key of the configuration, for lists of them. The names in [admin.tokens] are free and not
// listed.
struct ConfigKey {
  std::string section;      // "limits", "probes.low"
  std::string name;         // "requests_per_minute"
  std::string environment;  // "VEDETTE_LIMITS_REQUESTS_PER_MINUTE"
  std::string allowed;      // completes "must be ..."
  bool secret;              // never shown; <name>_file (and <environment>_FILE) are known too
};
std::vector<ConfigKey> ConfigKeys();

// Environment variables by name; empty when not set.
using Environment = std::map<std::string, std::string>;
Environment ProcessEnvironment();

// The defaults, then the file (if a path is given), then the environment's VEDETTE_* variables; a
// later layer wins. Known variables that are not configuration (VEDETTE_ADMIN_URL, the links that
// Kubernetes sets for a service of this name) are passed over; any other unknown VEDETTE_ variable
// is an error, as are an unknown key of the file, and a secret given both as <key> and <key>_file
// in one layer. A variable that is set but empty is an empty value. Throws ConfigError.
Config LoadConfig(const std::optional<std::string>& path, const Environment& environment);

}  // namespace vedette::config
