#include "tests/unit/lease/lease_test.h"

#include <optional>

#include "config/database_config.h"
#include "config/parts.h"

namespace vedette::lease {

const config::DatabaseConfig& LeaseTest::Nowhere() {
  static const config::DatabaseConfig nowhere = [] {
    config::DatabaseConfig database = config::LoadConfig(std::nullopt, {}).database;
    database.url = "host=/nonexistent dbname=none";
    database.reconnect_first_ms = std::chrono::hours(1);
    database.reconnect_max_ms = std::chrono::hours(1);
    return database;
  }();
  return nowhere;
}

}  // namespace vedette::lease
