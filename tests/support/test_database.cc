#include "tests/support/test_database.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <pqxx/pqxx>
#include <stdexcept>

#include "app/private_postgres.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/migrate.h"

namespace vedette::test {
namespace {

constexpr const char* kTemplate = "vedette_template";
constexpr int kConnectionsMax = 60;

config::DatabaseConfig ConfigOf(const std::string& url) {
  return config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", url}}).database;
}

// The process's server, with its temporary directory.
class Server {
 public:
  Server()
      : dir_(MakeDir()),
        postgres_(dir_, {.durable = false, .connections_max = kConnectionsMax, .say = {}}) {
    postgres_.Start();
    Execute(fmt::format("CREATE DATABASE {}", kTemplate));
    base::SystemClock clock;
    base::Logger log(base::LogLevel::kWarn, base::LogFormat::kText);
    store::Migrate(ConfigOf(postgres_.Url(kTemplate)), clock, log);
  }
  ~Server() {
    postgres_.Stop();
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }

  void Execute(const std::string& statement) {
    pqxx::connection connection(postgres_.Url("postgres"));
    pqxx::nontransaction(connection).exec(statement);
  }

  app::PrivatePostgres& postgres() { return postgres_; }
  std::string NextName() { return fmt::format("test_{}", ++databases_); }

 private:
  static std::filesystem::path MakeDir() {
    std::string path = (std::filesystem::temp_directory_path() / "vedette-test-XXXXXX").native();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    // The server's user has to pass through it.
    std::filesystem::permissions(path, std::filesystem::perms(0711));
    return path;
  }

  std::filesystem::path dir_;
  app::PrivatePostgres postgres_;
  std::atomic<int> databases_{0};
};

Server& TheServer() {
  static Server server;
  return server;
}

}  // namespace

TestDatabase::TestDatabase() : TestDatabase(true) {}

TestDatabase::TestDatabase(bool migrated)
    : name_(TheServer().NextName()), url_(TheServer().postgres().Url(name_)) {
  TheServer().Execute(migrated ? fmt::format("CREATE DATABASE {} TEMPLATE {}", name_, kTemplate)
                               : fmt::format("CREATE DATABASE {}", name_));
}

TestDatabase::~TestDatabase() {
  try {
    TheServer().Execute(fmt::format("DROP DATABASE {} WITH (FORCE)", name_));
  } catch (const std::exception&) {
    // It goes with the server.
  }
}

config::DatabaseConfig TestDatabase::config() const {
  return ConfigOf(url_);
}

void TestDatabase::CrashServer() {
  TheServer().postgres().Crash();
}

void TestDatabase::StartServer() {
  TheServer().postgres().Start();
}

}  // namespace vedette::test
