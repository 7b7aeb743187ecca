#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Keys of [database], and of [testing], which the project's own tests set.
// config/config.h says what all of it is.
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
  int jobs_connections;
  int search_connections;
  // Jobs that may wait for a connection, per role; over it the caller is refused.
  int queue_max;

  bool operator==(const DatabaseConfig&) const = default;
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
  std::vector<std::string> disable;  // names of safeties (config/values.cc lists them)
  milliseconds mail_window_ms;       // of mail budgets, breakers and greylists; 0: as they are
  bool null_provider;                // [lookups] may name the one that invents its answers

  // Whether sessions do anything else than without it.
  bool changes_sessions() const { return !fault_points.empty() || !disable.empty(); }
  bool any() const { return changes_sessions() || mail_window_ms.count() != 0 || null_provider; }
  bool operator==(const TestingConfig&) const = default;
};

}  // namespace vedette::config
