#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/kit/answer.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/database_config.h"
#include "config/parts.h"
#include "metrics/metrics.h"
#include "store/session.h"
#include "tests/support/fake_exchange.h"

namespace vedette::rest::test {

// A pool and a session whose database cannot be reached: jobs run, and what asks the database
// throws Unavailable at once. And the port that answers on it.
class NoDatabaseTest : public testing::Test {
 protected:
  void TearDown() override { pool.Stop(); }

  static constexpr int kQueueMax = 4;

  static const config::DatabaseConfig& Nowhere() {
    static const config::DatabaseConfig nowhere = [] {
      config::DatabaseConfig database = config::LoadConfig(std::nullopt, {}).database;
      database.url = "host=/nonexistent dbname=none";
      database.reconnect_first_ms = std::chrono::hours(1);
      database.reconnect_max_ms = std::chrono::hours(1);
      database.queue_max = kQueueMax;
      return database;
    }();
    return nowhere;
  }
  static std::shared_ptr<vedette::test::FakeExchange> Asked() {
    net::ServerRequest request;
    request.method = "GET";
    request.path = "/things/ada%40x.example";  // which no line of the log has
    request.headers = {{"x-request-id", "r-1"}};
    return std::make_shared<vedette::test::FakeExchange>(std::move(request));
  }
  std::shared_ptr<Answer> AnswerTo(std::shared_ptr<net::Exchange> exchange) {
    return std::make_shared<Answer>(port, std::move(exchange), "/things");
  }
  // Ends the jobs that are under way, and lets no further one in.
  void FinishJobs() { pool.Stop(); }

  base::SystemClock clock;
  const base::Logger silent{base::LogLevel::kOff, base::LogFormat::kText};
  metrics::Metrics metrics{"test"};
  // Its lines are read back by those who capture standard error.
  Port port{"api", "other", {}, clock, metrics, {base::LogLevel::kWarn, base::LogFormat::kText}};
  store::Session session{Nowhere(), {.name = "test"}, clock, metrics, silent};
  store::Pool pool{Nowhere(), {.name = "test"}, 1, clock, metrics, silent};
};

}  // namespace vedette::rest::test
