#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

// Keys of [probes.<tier>] and of [browser], which renders pages for probes.
// config/parts.h says what all of it is.
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
  std::string render;  // never, auto, always: which pages have their scripts run; kind web
  // Settings of the model (kind llm, and web with a model).
  std::optional<double> temperature;  // empty: not sent
  int tokens_max;                     // of one answer
  std::string tokens_max_field;       // how the model's server calls it
  std::string answer_format;          // json_schema, json_object, text

  // About 4,000 tokens of a page's text are given to the model; 0 = none is fetched. It has no key.
  std::size_t page_text_bytes_max = 16'384;

  bool operator==(const ProbeConfig&) const = default;
};

// The browser of a process.
struct BrowserConfig {
  std::string enabled;                          // auto (where the executable is there), true, false
  std::string executable;                       // Chromium
  int pages_max;                                // at once
  std::size_t memory_bytes_max;                 // of all processes of the browser
  bool sandbox;                                 // Chromium's own
  std::chrono::milliseconds render_timeout_ms;  // of one page

  // These have no keys.
  int pages_per_browser_max = 500;            // then it is replaced
  std::size_t page_bytes_max = 64 << 20;      // what one page may fetch
  std::size_t page_requests_max = 1000;       // how often
  std::chrono::milliseconds quiet_ms{500};    // without a request a page is done
  std::chrono::milliseconds idle_ms{60'000};  // a browser without a page is closed
  std::chrono::milliseconds start_timeout_ms{30'000};

  bool operator==(const BrowserConfig&) const = default;
};

}  // namespace vedette::config
