#include "delivery/retry_policy.h"

#include <algorithm>

namespace vedette::delivery {

NextStep NextAttempt(const RetryRules& rules, const AttemptContext& context,
                     const AttemptResult& result) {
  const int status = result.status_code.value_or(0);
  if (status >= 200 && status < 300) return {NextStep::Kind::kDelivered};
  if (status == 410) return {NextStep::Kind::kDead};
  const auto window =
      context.endpoint_failing ? std::max(rules.window, rules.breaker_age_max) : rules.window;
  if (context.age >= window) return {NextStep::Kind::kDead};
  // 2^40 times any first wait is beyond any cap; shifting further would overflow.
  const int doublings = std::clamp(context.attempts - 1, 0, 40);
  const double wait_ms =
      std::min(static_cast<double>(rules.first.count()) * static_cast<double>(1LL << doublings),
               static_cast<double>(rules.max.count()));
  const double factor = 1 + rules.jitter * (2 * context.random - 1);
  auto wait = std::chrono::milliseconds(static_cast<std::int64_t>(wait_ms * factor));
  if ((status == 429 || status == 503) && result.retry_after) {
    wait = std::max(wait, std::min(*result.retry_after, rules.max));
  }
  return {NextStep::Kind::kRetry, wait};
}

}  // namespace vedette::delivery
