#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Keys of [browser]. config/parts.h says what all of it is.
namespace vedette::config {

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
