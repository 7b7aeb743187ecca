#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Keys of [delivery] and [mail].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct DeliveryConfig {
  milliseconds timeout_ms;  // one attempt, everything included
  milliseconds lease_ms;
  milliseconds backoff_first_ms;
  milliseconds backoff_max_ms;
  milliseconds backoff_window_ms;
  int in_flight_max;
  int breaker_failures;  // in a row, until it opens

  // The rest has no keys. Receivers that are slow, or not known yet, have as many attempts of their
  // own as the others: LoadConfig makes it in_flight_max.
  int slow_in_flight_max = 512;
  milliseconds poll_ms{1'000};
  double backoff_jitter = 0.2;  // +- share
  // How long deliveries may wait behind an open breaker, where they do not age: 7 days.
  milliseconds breaker_age_max_ms{604'800'000};
  int in_flight_per_endpoint_max = 16;
  int tests_in_flight_max = 64;       // webhook tests under way in one process
  milliseconds slow_after_ms{1'000};  // an attempt under way for longer makes its receiver slow
  milliseconds breaker_interval_ms{30'000};  // between attempts at a receiver whose breaker is open
  std::size_t answer_bytes_max = 4096;       // of a receiver's answer, kept for the operator
  // The size of a job's callback; over it the result is left out, and the receiver reads
  // /job-status.
  std::size_t body_bytes_max = std::size_t{1} << 20;
  std::size_t bodies_held_bytes_max = std::size_t{64}
                                      << 20;  // callbacks that the process sends now
  // Outcomes are gathered for this long, or until there are this many.
  milliseconds settle_delay_ms{20};
  int settle_max = 500;
  milliseconds drain_timeout_ms{11'000};  // for attempts in flight: a little more than timeout_ms

  bool operator==(const DeliveryConfig&) const = default;
};

// The relay that e-mail of channels goes to (docs/channels.md).
struct MailConfig {
  std::string relay;     // "smtps://user@host:465"; empty: there is no e-mail
  std::string password;  // from password or password_file
  std::string from;      // the address that e-mail is from

  bool operator==(const MailConfig&) const = default;
};

}  // namespace vedette::config
