#pragma once

#include <memory>
#include <string>

#include "config/config_fwd.h"

namespace vedette::test {

// A migrated database of one test's own, on a real PostgreSQL: one private server a test process
// (in memory or a temporary directory, without fsync, started at first use, stopped at exit) and a
// copy of a migrated template for each object. Nobody uses it after the object. But for Sql, the
// main thread only.
class TestDatabase {
 public:
  TestDatabase();
  // An empty one, without the schema, where `migrated` is false.
  explicit TestDatabase(bool migrated);
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  const std::string& url() const { return url_; }

  // Runs a statement in a transaction, on a connection that is kept; its first value as text, empty
  // without a row or for NULL. Any thread.
  std::string Sql(const std::string& statement);

  // The defaults with this database's URL.
  const config::DatabaseConfig& config() const { return *config_; }

  // For tests of G12: the server of every TestDatabase of the process goes away as in a crash, and
  // comes back under the same URLs with what was committed.
  static void CrashServer();
  static void StartServer();

 private:
  struct Client;

  std::string name_;
  std::string url_;
  std::unique_ptr<const config::DatabaseConfig> config_;
  std::unique_ptr<Client> client_;
};

}  // namespace vedette::test
