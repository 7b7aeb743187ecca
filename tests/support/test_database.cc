#include "tests/support/test_database.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <pqxx/pqxx>
#include <string_view>
#include <utility>

#include "app/private_postgres.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/database_config.h"
#include "config/parts.h"
#include "store/migrate.h"
#include "tests/support/test_directory.h"

namespace vedette::test {
namespace {

constexpr const char* kTemplate = "vedette_template";
constexpr int kConnectionsMax = 60;
// Databases whose tests are over and that are still there.
constexpr std::size_t kRetiredMax = 2;
constexpr std::uintmax_t kMemoryMin = std::uintmax_t{6} << 30;

config::DatabaseConfig ConfigOf(const std::string& url) {
  // With every default, which are read once: each test asks, and some ask often.
  static const config::DatabaseConfig kDefaults =
      config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", "postgresql:///"}}).database;
  config::DatabaseConfig config = kDefaults;
  config.url = url;
  return config;
}

// The first value as text; empty without a row or for NULL.
std::string FirstValue(pqxx::connection& connection, const std::string& statement) {
  pqxx::work work(connection);
  const pqxx::result result = work.exec(statement);
  work.commit();
  if (result.empty() || result.columns() == 0 || result[0][0].is_null()) return {};
  return result[0][0].c_str();
}

std::unique_ptr<pqxx::connection> Connect(const std::string& url) {
  auto connection = std::make_unique<pqxx::connection>(url);
  pqxx::nontransaction(*connection).exec("set timezone = 'UTC'");
  return connection;
}

// The directory where the server's files are written: in memory, where there is room for the
// servers of several processes, because a test's database is some hundred files that are made and
// removed.
std::filesystem::path Parent() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  const std::filesystem::space_info space = std::filesystem::space(memory, none);
  const bool chosen = std::getenv("TMPDIR") != nullptr;
  if (none || chosen || space.available < kMemoryMin) return std::filesystem::temp_directory_path();
  return memory;
}

// Whose PostgreSQL: the machine's, or the one in the directory that scripts/on_postgres18 names.
app::PrivatePostgresOptions Options() {
  app::PrivatePostgresOptions options{
      .durable = false, .connections_max = kConnectionsMax, .say = {}};
  if (const char* bin = std::getenv("VEDETTE_TEST_POSTGRES")) options.bin = bin;
  return options;
}

// The process's server, with its temporary directory.
class Server {
 public:
  Server() : dir_(Parent()), postgres_(dir_.path(), Options()) {
    postgres_.Start();
    Create(kTemplate, false);
    base::SystemClock clock;
    base::Logger log(base::LogLevel::kWarn, base::LogFormat::kText);
    store::Migrate(ConfigOf(postgres_.Url(kTemplate)), clock, log);
  }
  ~Server() {
    connection_.reset();
    postgres_.Stop();
  }

  void Create(const std::string& name, bool migrated) {
    while (retired_.size() > kRetiredMax) {
      Drop(retired_.front());
      retired_.pop_front();
    }
    // Without fsync, files are copied faster than pages are logged.
    Execute(migrated
                ? fmt::format("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, kTemplate)
                : fmt::format("CREATE DATABASE {}", name));
  }

  // Is dropped a few databases later: by then the test's sessions have ended, and the server need
  // not wait for them.
  void Retire(std::string name) { retired_.push_back(std::move(name)); }

  void Crash() {
    connection_.reset();
    postgres_.Crash();
  }
  void Start() { postgres_.Start(); }

  std::string Url(std::string_view name) const { return postgres_.Url(name); }
  std::string NextName() { return fmt::format("test_{}", ++databases_); }

 private:
  void Execute(const std::string& statement) {
    if (!connection_) {
      connection_ = std::make_unique<pqxx::connection>(postgres_.Url("postgres"));
    }
    pqxx::nontransaction(*connection_).exec(statement);
  }

  void Drop(const std::string& name) {
    try {
      Execute(fmt::format("DROP DATABASE {} WITH (FORCE)", name));
    } catch (const std::exception&) {
      connection_.reset();  // the database goes with the server
    }
  }

  TestDirectory dir_;
  app::PrivatePostgres postgres_;
  std::unique_ptr<pqxx::connection> connection_;  // to `postgres`; null until it is needed
  std::deque<std::string> retired_;               // the oldest first
  std::atomic<int> databases_{0};
};

Server& TheServer() {
  static Server server;
  return server;
}

}  // namespace

// The connection of Sql.
struct TestDatabase::Client {
  std::mutex mutex;
  std::unique_ptr<pqxx::connection> connection;  // guarded by mutex; null until it is needed
};

TestDatabase::TestDatabase() : TestDatabase(true) {}

TestDatabase::TestDatabase(bool migrated)
    : name_(TheServer().NextName()),
      url_(TheServer().Url(name_)),
      config_(std::make_unique<const config::DatabaseConfig>(ConfigOf(url_))),
      client_(std::make_unique<Client>()) {
  TheServer().Create(name_, migrated);
}

TestDatabase::~TestDatabase() {
  client_.reset();
  TheServer().Retire(name_);
}

std::string TestDatabase::Sql(const std::string& statement) {
  const std::unique_lock lock(client_->mutex, std::try_to_lock);
  if (!lock) {
    // The statement of the other thread may wait for this one.
    return FirstValue(*Connect(url_), statement);
  }
  auto& connection = client_->connection;
  if (connection) {
    try {
      return FirstValue(*connection, statement);
    } catch (const std::exception&) {
      if (connection->is_open()) throw;
      connection.reset();  // the server went away meanwhile
    }
  }
  connection = Connect(url_);
  return FirstValue(*connection, statement);
}

void TestDatabase::CrashServer() {
  TheServer().Crash();
}

void TestDatabase::StartServer() {
  TheServer().Start();
}

}  // namespace vedette::test
