#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "config/delivery_config.h"
#include "config/parts.h"
#include "delivery/retry_policy.h"

// docs/webhooks.md tells the schedule as a table; it is that of the defaults.
namespace vedette::delivery {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// "1 h 25 min 15 s"
std::string Text(milliseconds wait) {
  const auto s = std::chrono::duration_cast<seconds>(wait).count();
  std::string text;
  const auto add = [&](long long n, const char* unit) {
    if (n > 0) text += (text.empty() ? "" : " ") + std::to_string(n) + " " + unit;
  };
  add(s / 3600, "h");
  add(s / 60 % 60, "min");
  add(s % 60, "s");
  return text;
}

TEST(RetrySchedule, TheDocumentsTableIsThatOfTheDefaults) {
  const config::DeliveryConfig d = config::LoadConfig(std::nullopt, {}).delivery;
  const RetryRules rules{
      {d.backoff_first_ms, d.backoff_max_ms, 0}, d.backoff_window_ms, d.breaker_age_max_ms};
  std::ifstream file(VEDETTE_SOURCE_DIR "/docs/webhooks.md");
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  const auto row = [&](int attempt, const std::string& wait, const std::string& since) {
    const std::string line =
        "\n| " + std::to_string(attempt) + " | " + wait + " | " + since + " |\n";
    EXPECT_NE(document.find(line), std::string::npos) << line;
  };
  milliseconds since{0};
  int attempt = 1;
  for (;; ++attempt) {
    const NextStep next = NextAttempt(rules, {attempt, since, false, 0.5}, {500, std::nullopt});
    ASSERT_EQ(next.end, domain::AttemptEnd::kRetry);
    if (next.wait == rules.backoff.max) break;
    since += next.wait;
    row(attempt + 1, Text(next.wait), Text(since));
  }
  EXPECT_NE(document.find("\n| " + std::to_string(attempt + 1) + " and on | " +
                          Text(rules.backoff.max) + " | every " + Text(rules.backoff.max) +
                          ", until " + Text(rules.window) + " have passed |\n"),
            std::string::npos);
  EXPECT_NE(document.find("up to 20 % longer or shorter"), std::string::npos);
  EXPECT_EQ(d.backoff_jitter, 0.2);
  EXPECT_EQ(d.timeout_ms, seconds(10));
  EXPECT_EQ(d.breaker_failures, 5);
  EXPECT_EQ(d.breaker_interval_ms, seconds(30));
  EXPECT_EQ(d.in_flight_per_endpoint_max, 16);
  EXPECT_EQ(d.breaker_age_max_ms, hours(7 * 24));
}

}  // namespace
}  // namespace vedette::delivery
