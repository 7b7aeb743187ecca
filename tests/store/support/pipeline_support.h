#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "store/checks/chunks.h"
#include "store/checks/record.h"
#include "store/checks/ticks.h"
#include "store/session.h"
#include "tests/support/test_database.h"

namespace vedette::test {

// Claims of a chunk of one row that are counted at once, and one more.
inline constexpr int kCarefulFrom = 3;

// A database with an organisation that has credits, and short ways to seed and to look.
class PipelineTest : public testing::Test {
 public:
  PipelineTest();

  // The first column of the first row as text; "" without a row or for NULL.
  std::string Sql(const std::string& statement);

  // Wait with a deadline, after which the test fails.
  void Until(const std::string& what, const std::function<bool()>& condition);
  // Until the statement's first value is this.
  void Eventually(const std::string& statement, const std::string& expected);

  // The value of a series, 0 when it is not there.
  double Series(const std::string& name_and_labels);

  struct MonitorOptions {
    int rows = 1;
    std::string frequency_s = "3600";
    std::string due = "now()";
    std::optional<base::Uuid> team;
    std::optional<base::Uuid> org;
    std::string webhook_url;  // subscribed to everything
  };
  base::Uuid NewMonitor(const MonitorOptions& options);
  base::Uuid NewOrganisation(std::int64_t balance_mc);
  base::Uuid NewTeam(std::optional<std::int64_t> limit_mc);

  store::MaterialiseResult Cut();
  store::Claim ClaimAll(int chunks_max = 100);
  // Every open row of the claim gets `outcome`, every chunk is finished.
  std::vector<store::ChunkRecord> FinishAll(const store::Claim& claim, domain::Outcome outcome);
  store::RecordResult Record(const std::vector<store::ChunkRecord>& records);

  // sum(ledger) = balance + reserved, for every organisation (G4).
  void ExpectMoneyAddsUp();

  TestDatabase database;
  const config::DatabaseConfig& config;
  base::SystemClock clock;
  metrics::Metrics metrics{"test"};
  store::Session session;
  store::MaterialiseLimits limits{100, 4096, 256, 10000, 0.1};
  std::map<domain::Tier, std::int64_t> prices{{domain::Tier::kMicro, 500},
                                              {domain::Tier::kLow, 1000},
                                              {domain::Tier::kMedium, 5000},
                                              {domain::Tier::kHigh, 20000}};
  base::Uuid org;
  std::chrono::milliseconds lease{30000};
};

}  // namespace vedette::test
