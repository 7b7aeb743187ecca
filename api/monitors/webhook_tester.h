#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/uuid.h"

namespace vedette::api {

// How one test notification went.
struct WebhookTestOutcome {
  // Not sent, because too many are under way: of this organisation, or of all together.
  enum class Refusal { kNone, kOrganisation, kAll };
  Refusal refusal = Refusal::kNone;
  bool delivered = false;
  std::optional<int> status_code;    // empty where no answer came
  std::optional<std::string> error;  // one sentence; empty when delivered
  std::int64_t duration_ms = 0;
};

struct WebhookTestTarget {
  base::Uuid org_id;  // whose secrets sign
  base::Uuid monitor_id;
  std::string url;
  std::optional<std::string> metadata_json;
};

// Sends one signed notification of type monitor.webhook.test, at once and only once. Built by app
// from delivery/, which the API must not include.
class WebhookTester {
 public:
  virtual ~WebhookTester() = default;

  // Returns at once; `done` runs exactly once, on any thread, within the attempt's timeout and a
  // little.
  virtual void Test(WebhookTestTarget target, std::function<void(WebhookTestOutcome)> done) = 0;
};

}  // namespace vedette::api
