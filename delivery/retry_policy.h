#pragma once

#include <chrono>
#include <optional>

#include "base/backoff.h"
#include "domain/job/webhook.h"

// When a notification is tried again, and when it is given up. Pure: the one place that knows.
namespace vedette::delivery {

struct RetryRules {
  base::Backoff backoff;             // waits between attempts
  std::chrono::milliseconds window;  // since the schedule began: a failure after it is the last
  std::chrono::milliseconds breaker_age_max;  // the window while the receiver's breaker is open
};

struct AttemptResult {
  std::optional<int> status_code;  // empty: no answer
  std::optional<std::chrono::milliseconds> retry_after;
};

struct AttemptContext {
  int attempts;                   // made, this one included
  std::chrono::milliseconds age;  // since the schedule began
  bool endpoint_failing;          // this attempt tried a receiver whose breaker is open
  double random;                  // uniform in [0, 1)
};

struct NextStep {
  domain::AttemptEnd end;
  std::chrono::milliseconds wait{};  // kRetry
};

// 2xx is success; 410 ends it at once; Retry-After of a 429 or 503 is a minimum wait, capped at
// the longest wait; everything else, no answer included, is tried again.
NextStep NextAttempt(const RetryRules& rules, const AttemptContext& context,
                     const AttemptResult& result);

// What the answer to a request says of its receiver; empty: there was none.
domain::ReceiverState ReceiverAfter(std::optional<int> status_code);

}  // namespace vedette::delivery
