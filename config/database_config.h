#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Keys of [database], and of [testing], which the project's own tests set.
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct DatabaseConfig {
  std::string url;         // libpq connection string or URI
  std::string pooled_url;  // the same database through a transaction pooler; empty: there is none
  milliseconds statement_timeout_ms;
  // Connections, and threads, per role.
  int api_connections;
  int worker_connections;
  int jobs_connections;

  // The rest has no keys. These three are shares of statement_timeout_ms, which LoadConfig
  // computes.
  milliseconds lock_timeout_ms{10'000};
  milliseconds idle_in_transaction_timeout_ms{5'000};  // a frozen process must not hold its locks
  milliseconds tcp_user_timeout_ms{10'000};  // how long a vanished peer goes unnoticed, both sides
  milliseconds connect_timeout_ms{5'000};
  // First and longest wait between attempts to reconnect; it doubles from one to the other.
  milliseconds reconnect_first_ms{200};
  milliseconds reconnect_max_ms{5'000};
  int admin_connections = 2;
  int scheduler_connections = 2;
  int delivery_connections = 2;
  int search_connections = 2;  // of the API, for counting the values of fields
  // Jobs that may wait for a connection, per role; over it the caller is refused.
  int queue_max = 1024;
  // Whether `url` leads through a transaction pooler: nothing of a session outlives a transaction.
  bool is_pooled = false;

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
  double null_change_share;          // of the checks of kind null that see new values
  bool small_steps;                  // work goes in small steps, and polls are frequent

  // Whether sessions do anything else than without it.
  bool changes_sessions() const { return !fault_points.empty() || !disable.empty(); }
  bool any() const {
    return changes_sessions() || mail_window_ms.count() != 0 || null_provider ||
           null_change_share != 0 || small_steps;
  }
  bool operator==(const TestingConfig&) const = default;
};

}  // namespace vedette::config
