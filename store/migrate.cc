#include "store/migrate.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "config/database_config.h"
#include "store/queries.h"
#include "store/schema.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Any constant: all that migrate take the same lock.
constexpr std::int64_t kMigrationLock = 0x76656465747465;
// A fleet goes on meanwhile, and everybody who needs a table queues behind a migration that waits
// for it. So a migration waits for no table longer than that, and begins again after a pause.
constexpr const char* kLockTimeout = "set local lock_timeout = '500ms'";
constexpr int kTriesMax = 60;
constexpr std::chrono::milliseconds kBetweenTries{500};
constexpr std::string_view kLockNotAvailable = "55P03";
constexpr const char* kReadOnly = "25006";

int VersionOf(std::string_view file) {
  int version = 0;
  std::from_chars(file.data(), file.data() + 4, version);
  return version;
}

struct Applied {
  int version = 0;
  bool is_unreleased = false;
};

Applied ReadApplied(const pqxx::result& result) {
  Applied applied;
  Columns(result.at(0))
      .Into("version"_a = &applied.version, "is_unreleased"_a = &applied.is_unreleased);
  return applied;
}

Applied AppliedTo(pqxx::transaction_base& tx) {
  if (!ReadOne<bool>(tx.exec(QueryText("schema_table_exists")))) return {};
  return ReadApplied(tx.exec(QueryText("schema_version")));
}

std::string NewerSchemaMessage(int applied) {
  return fmt::format(
      "the database's schema is version {}, this binary knows {}: run a newer vedette", applied,
      SchemaVersion());
}

// In its transaction; false: the database has it.
bool Apply(const Migration& migration, pqxx::connection& connection) {
  pqxx::work tx(connection);
  tx.exec(fmt::format("select pg_advisory_xact_lock({})", kMigrationLock));
  const Applied applied = AppliedTo(tx);
  if (applied.is_unreleased) throw std::runtime_error(std::string(kUnreleasedSchema));
  if (applied.version > SchemaVersion()) {
    throw std::runtime_error(NewerSchemaMessage(applied.version));
  }
  const int version = VersionOf(migration.file);
  if (version <= applied.version) return false;
  tx.exec(kLockTimeout);
  tx.exec(
      "create table if not exists schema_migration (version int primary key, "
      "name text not null, applied_at timestamptz not null default now())");
  tx.exec(std::string(migration.text));
  tx.exec(fmt::format("insert into schema_migration (version, name) values ({}, {})", version,
                      tx.quote(std::string(migration.file))));
  tx.commit();
  return true;
}

// The fleet locks the same tables in orders of its own, so a deadlock is begun again, too.
bool ApplyBesideAFleet(const Migration& migration, pqxx::connection& connection,
                       base::Logger& log) {
  for (int tries = 1;; ++tries) {
    try {
      return Apply(migration, connection);
    } catch (const pqxx::deadlock_detected&) {
      if (tries == kTriesMax) throw;
    } catch (const pqxx::sql_error& error) {
      if (tries == kTriesMax || error.sqlstate() != kLockNotAvailable) throw;
    }
    log.Info("the migration gives way to the fleet and is tried again",
             {{"migration", migration.file}});
    std::this_thread::sleep_for(kBetweenTries);
  }
}

// What an operator does about the failure; empty where only the failure itself says it.
std::string_view WhatToDo(const pqxx::failure& error) {
  // Those that have types of their own come without a state.
  const auto* refused = dynamic_cast<const pqxx::sql_error*>(&error);
  const std::string sqlstate = refused != nullptr ? refused->sqlstate() : "";
  if (sqlstate == kLockNotAvailable ||
      dynamic_cast<const pqxx::deadlock_detected*>(&error) != nullptr) {
    return "other sessions have held a table that it needs for a minute. `select pid, now() - "
           "xact_start, query from pg_stat_activity order by xact_start limit 5` shows the oldest: "
           "wait until they end, or end them with pg_terminate_backend, and run `vedette migrate` "
           "again";
  }
  if (sqlstate == kReadOnly) {
    return "the database takes no changes (a standby, or default_transaction_read_only): let "
           "[database] url lead to the primary, and run `vedette migrate` again";
  }
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&error) != nullptr) {
    return "the user of [database] url may not do this: run `vedette migrate` as the owner of the "
           "database and its tables";
  }
  return {};
}

int ApplyMissing(pqxx::connection& connection, base::Logger& log) {
  int done = 0;
  for (const Migration& migration : Migrations()) {
    try {
      if (!ApplyBesideAFleet(migration, connection, log)) continue;
    } catch (const pqxx::failure& error) {
      const std::string_view what = WhatToDo(error);
      if (what.empty()) throw;
      const std::string_view why = error.what();
      throw std::runtime_error(fmt::format("migration {} is not applied: {} ({})", migration.file,
                                           what, why.substr(0, why.find('\n'))));
    }
    log.Info("migration applied", {{"migration", migration.file}});
    ++done;
  }
  return done;
}

}  // namespace

int SchemaVersion() {
  return VersionOf(Migrations().back().file);
}

int Migrate(const config::DatabaseConfig& config, const base::Clock&, base::Logger log) {
  // Another process may hold the lock through a long migration, and a migration may be long itself.
  config::DatabaseConfig patient = config;
  patient.statement_timeout_ms = std::chrono::milliseconds(0);
  patient.lock_timeout_ms = std::chrono::milliseconds(0);
  std::unique_ptr<pqxx::connection> connection;
  std::string pooler;
  try {
    connection = OpenConnection(patient, {.name = "migrate"});
    pooler = TransactionPoolerFound(*connection, patient);
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string("cannot connect to the database: ") + e.what());
  }
  if (!pooler.empty()) throw std::runtime_error(pooler);
  return ApplyMissing(*connection, log);
}

SchemaState CheckSchema(Session& session) {
  const Applied applied = InTransaction(session, [](Transaction& tx) {
    // The connection is given up as after a write: the next one may lead to another server.
    if (ReadOne<bool>(tx.Exec<"database_takes_no_changes">())) {
      throw pqxx::sql_error("it only reads", "database_takes_no_changes", kReadOnly);
    }
    if (!ReadOne<bool>(tx.Exec<"schema_table_exists">())) return Applied{};
    return ReadApplied(tx.Exec<"schema_version">());
  });
  if (applied.is_unreleased) return SchemaState::kUnreleased;
  if (applied.version > SchemaVersion()) return SchemaState::kNewer;
  return applied.version == SchemaVersion() ? SchemaState::kCurrent : SchemaState::kOlder;
}

}  // namespace vedette::store
