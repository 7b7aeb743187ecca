#include "delivery/retry_policy.h"
#include "config/delivery_config.h"
#include "config/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <vector>

namespace vedette::delivery {
namespace {

using domain::AttemptEnd;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kNoJitter = 0.5;  // the middle of the jitter: the wait itself

// The rules that the compiled-in configuration gives; read once.
const RetryRules& Defaults() {
  static const RetryRules rules = [] {
    const config::DeliveryConfig delivery = config::LoadConfig(std::nullopt, {}).delivery;
    return RetryRules{{delivery.backoff_first_ms, delivery.backoff_max_ms, delivery.backoff_jitter},
                      delivery.backoff_window_ms,
                      delivery.breaker_age_max_ms};
  }();
  return rules;
}

AttemptContext Attempt(int attempts, double random = kNoJitter) {
  return {.attempts = attempts, .age = seconds(0), .endpoint_failing = false, .random = random};
}

const AttemptResult kNoAnswer{std::nullopt, std::nullopt};

TEST(RetryPolicy, TheDefaultsAreThoseOfTheDesign) {
  const RetryRules rules = Defaults();
  EXPECT_EQ(rules.backoff.first, seconds(5));
  EXPECT_EQ(rules.backoff.max, hours(4));
  EXPECT_EQ(rules.window, hours(72));
  EXPECT_EQ(rules.backoff.jitter, 0.2);
  EXPECT_EQ(rules.breaker_age_max, hours(24 * 7));
  EXPECT_EQ(config::LoadConfig(std::nullopt, {}).delivery.timeout_ms, seconds(10))
      << "interface 6.2, rule 2";
}

TEST(RetryPolicy, WaitsDoubleFromFiveSecondsToFourHours) {
  const std::vector<seconds> schedule = {
      seconds(5),    seconds(10),    seconds(20),    seconds(40),    seconds(80),
      seconds(160),  seconds(320),   seconds(640),   seconds(1280),  seconds(2560),
      seconds(5120), seconds(10240), seconds(14400), seconds(14400), seconds(14400)};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const NextStep next = NextAttempt(Defaults(), Attempt(static_cast<int>(i) + 1), kNoAnswer);
    EXPECT_EQ(next.end, AttemptEnd::kRetry);
    EXPECT_EQ(next.wait, schedule[i]) << "after attempt " << i + 1;
  }
  for (const int attempts : {40, 41, 63, 64, 65, 1000, 2147483647}) {
    EXPECT_EQ(NextAttempt(Defaults(), Attempt(attempts), kNoAnswer).wait, hours(4)) << attempts;
  }
}

TEST(RetryPolicy, JitterStaysWithinItsShareEitherWay) {
  EXPECT_EQ(NextAttempt(Defaults(), Attempt(1, 0.0), kNoAnswer).wait, milliseconds(4000));
  std::mt19937_64 random(20261121);
  std::uniform_real_distribution<double> uniform(0, 1);
  milliseconds least = hours(1);
  milliseconds most{0};
  for (int i = 0; i < 10000; ++i) {
    const milliseconds wait = NextAttempt(Defaults(), Attempt(1, uniform(random)), kNoAnswer).wait;
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, milliseconds(4000));
  EXPECT_LE(most, milliseconds(6000));
  EXPECT_LT(least, milliseconds(4050)) << "the whole share is used";
  EXPECT_GT(most, milliseconds(5950));
}

TEST(RetryPolicy, TheStatusDecides) {
  const std::vector<std::pair<int, AttemptEnd>> cases = {
      {200, AttemptEnd::kDelivered}, {201, AttemptEnd::kDelivered}, {202, AttemptEnd::kDelivered},
      {204, AttemptEnd::kDelivered}, {299, AttemptEnd::kDelivered}, {410, AttemptEnd::kDead},
      {100, AttemptEnd::kRetry},     {199, AttemptEnd::kRetry},     {300, AttemptEnd::kRetry},
      {301, AttemptEnd::kRetry},     {302, AttemptEnd::kRetry},     {307, AttemptEnd::kRetry},
      {308, AttemptEnd::kRetry},     {400, AttemptEnd::kRetry},     {401, AttemptEnd::kRetry},
      {403, AttemptEnd::kRetry},     {404, AttemptEnd::kRetry},     {408, AttemptEnd::kRetry},
      {409, AttemptEnd::kRetry},     {411, AttemptEnd::kRetry},     {429, AttemptEnd::kRetry},
      {500, AttemptEnd::kRetry},     {502, AttemptEnd::kRetry},     {503, AttemptEnd::kRetry},
      {504, AttemptEnd::kRetry},     {599, AttemptEnd::kRetry}};
  for (const auto& [status, end] : cases) {
    EXPECT_EQ(NextAttempt(Defaults(), Attempt(1), {status, std::nullopt}).end, end) << status;
  }
  EXPECT_EQ(NextAttempt(Defaults(), Attempt(1), kNoAnswer).end, AttemptEnd::kRetry);
}

TEST(RetryPolicy, A410IsNoFailureOfTheReceiver) {
  for (const int status : {200, 204, 299, 410}) {
    EXPECT_EQ(ReceiverAfter(status), domain::ReceiverState::kWorks) << status;
  }
  for (const int status : {199, 302, 404, 409, 411, 429, 500, 503}) {
    EXPECT_EQ(ReceiverAfter(status), domain::ReceiverState::kFails) << status;
  }
  EXPECT_EQ(ReceiverAfter(std::nullopt), domain::ReceiverState::kFails);
}

TEST(RetryPolicy, RetryAfterOf429And503IsAMinimumCappedAtTheLongestWait) {
  const auto wait = [](int attempts, int status, milliseconds retry_after) {
    return NextAttempt(Defaults(), Attempt(attempts), {status, retry_after}).wait;
  };
  for (const int status : {429, 503}) {
    EXPECT_EQ(wait(1, status, minutes(10)), minutes(10));
    EXPECT_EQ(wait(4, status, seconds(1)), seconds(40)) << "no less than the backoff";
    EXPECT_EQ(wait(1, status, seconds(0)), seconds(5));
    EXPECT_EQ(wait(1, status, hours(24 * 365)), hours(4));
    // The jitter does not shorten what the receiver asked for.
    EXPECT_GE(NextAttempt(Defaults(), Attempt(1, 0.0), {status, seconds(5)}).wait, seconds(5));
  }
  for (const int status : {302, 500, 502, 504}) {
    EXPECT_EQ(wait(1, status, minutes(10)), seconds(5)) << status;
  }
}

struct AgeCase {
  const char* what;
  milliseconds age;
  bool endpoint_failing;
  AttemptEnd end;
};

TEST(RetryPolicy, AFailureAfterTheWindowIsTheLast) {
  const std::vector<AgeCase> cases = {
      {"just within", hours(72) - milliseconds(1), false, AttemptEnd::kRetry},
      {"at its end", hours(72), false, AttemptEnd::kDead},
      {"long after", hours(72 * 10), false, AttemptEnd::kDead},
      {"behind an open breaker it does not age", hours(72), true, AttemptEnd::kRetry},
      {"but at most 7 days", hours(24 * 7) - milliseconds(1), true, AttemptEnd::kRetry},
      {"then it is dead", hours(24 * 7), true, AttemptEnd::kDead},
  };
  for (const AgeCase& c : cases) {
    const AttemptContext context{
        .attempts = 20, .age = c.age, .endpoint_failing = c.endpoint_failing, .random = kNoJitter};
    EXPECT_EQ(NextAttempt(Defaults(), context, kNoAnswer).end, c.end) << c.what;
    EXPECT_EQ(NextAttempt(Defaults(), context, {200, std::nullopt}).end, AttemptEnd::kDelivered)
        << "a success counts whenever it comes: " << c.what;
  }
}

TEST(RetryPolicy, AnOpenBreakerNeverShortensTheWindow) {
  RetryRules rules = Defaults();
  rules.window = hours(24 * 14);
  AttemptContext context = Attempt(20);
  context.age = hours(24 * 10);
  context.endpoint_failing = true;
  EXPECT_EQ(NextAttempt(rules, context, kNoAnswer).end, AttemptEnd::kRetry);
}

// G2: a receiver that is away for a weekend gets everything.
TEST(RetryPolicy, G2TheWholeScheduleCoversTheWindowWithinATwoDigitNumberOfAttempts) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  AttemptContext context = Attempt(1, 0.5);
  for (;;) {
    context.random = uniform(random);
    const NextStep next = NextAttempt(Defaults(), context, {500, std::nullopt});
    if (next.end == AttemptEnd::kDead) break;
    ASSERT_EQ(next.end, AttemptEnd::kRetry);
    ASSERT_GT(next.wait, milliseconds(0));
    context.age += next.wait;
    ++context.attempts;
  }
  EXPECT_GE(context.age, hours(72));
  EXPECT_LT(context.age, hours(72 + 5)) << "a wait at most beyond the window";
  EXPECT_GT(context.attempts, 20);
  EXPECT_LT(context.attempts, 50);
}

}  // namespace
}  // namespace vedette::delivery
