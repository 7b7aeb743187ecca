#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace vedette::domain {

// Why nothing could be observed, of a row or of a field.
struct Failure {
  std::string error_class;  // stable snake_case: "timeout", "http_status", "no_address", ...
  std::string message;      // one sentence for the tenant
  bool retryable = false;
  std::optional<std::chrono::milliseconds> retry_after;
};

}  // namespace vedette::domain
