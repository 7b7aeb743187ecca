#include "delivery/retry_policy.h"

#include <algorithm>

namespace vedette::delivery {

NextStep NextAttempt(const RetryRules& rules, const AttemptContext& context,
                     const AttemptResult& result) {
  const int status = result.status_code.value_or(0);
  if (status >= 200 && status < 300) return {domain::AttemptEnd::kDelivered};
  if (status == 410) return {domain::AttemptEnd::kDead};
  const auto window =
      context.endpoint_failing ? std::max(rules.window, rules.breaker_age_max) : rules.window;
  if (context.age >= window) return {domain::AttemptEnd::kDead};
  auto wait = rules.backoff.Wait(context.attempts, context.random);
  if ((status == 429 || status == 503) && result.retry_after) {
    wait = std::max(wait, std::min(*result.retry_after, rules.backoff.max));
  }
  return {domain::AttemptEnd::kRetry, wait};
}

}  // namespace vedette::delivery
