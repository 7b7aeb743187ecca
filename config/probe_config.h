#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

// Keys of [probes.<tier>].
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

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

}  // namespace vedette::config
