#include "delivery/retry_policy.h"

#include <algorithm>

namespace vedette::delivery {
namespace {

// The receiver works, and wants no more of this.
constexpr int kGone = 410;

bool IsSuccess(int status) {
  return status >= 200 && status < 300;
}

}  // namespace

NextStep NextAttempt(const RetryRules& rules, const AttemptContext& context,
                     const AttemptResult& result) {
  const int status = result.status_code.value_or(0);
  if (IsSuccess(status)) return {domain::AttemptEnd::kDelivered};
  if (status == kGone) return {domain::AttemptEnd::kDead};
  const auto window =
      context.endpoint_failing ? std::max(rules.window, rules.breaker_age_max) : rules.window;
  if (context.age >= window) return {domain::AttemptEnd::kDead};
  auto wait = rules.backoff.Wait(context.attempts, context.random);
  if ((status == 429 || status == 503) && result.retry_after) {
    wait = std::max(wait, std::min(*result.retry_after, rules.backoff.max));
  }
  return {domain::AttemptEnd::kRetry, wait};
}

domain::ReceiverState ReceiverAfter(std::optional<int> status_code) {
  const int status = status_code.value_or(0);
  return IsSuccess(status) || status == kGone ? domain::ReceiverState::kWorks
                                              : domain::ReceiverState::kFails;
}

}  // namespace vedette::delivery
