#pragma once

#include <chrono>
#include <string>

namespace vedette::store {

// A request that may be repeated. The key is the organisation's, whatever the route.
struct Idempotency {
  std::string key;
  std::string body_sha256;  // 32 bytes: of what must be equal in a repetition
  std::chrono::hours kept;
};

}  // namespace vedette::store
