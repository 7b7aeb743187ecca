#include "store/pooler.h"

#include <pqxx/pqxx>

#include "store/queries.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// How often two connections are compared: sessions that a pooler gives out by turns come round.
constexpr int kLooks = 4;

constexpr const char* kRefusal =
    "the database is reached through a transaction pooler (as pgbouncer with pool_mode = "
    "transaction), which gives one session of PostgreSQL to several connections by turns; vedette "
    "keeps settings, prepared statements, locks and LISTEN in its sessions. Let [database] url "
    "lead to PostgreSQL itself, or to a pooler whose pool_mode is session";

int Backend(pqxx::transaction_base& tx) {
  return ReadOne<int>(tx.exec(QueryText("database_backend")));
}

int BackendOf(pqxx::connection& connection) {
  pqxx::nontransaction tx(connection);
  return Backend(tx);
}

}  // namespace

std::string TransactionPoolerFound(pqxx::connection& connection,
                                   const config::DatabaseConfig& config) {
  const int backend = BackendOf(connection);
  // A server names its own process when a connection begins; a pooler names one that it made up.
  if (backend == connection.backendpid()) return {};
  const auto other = OpenConnection(config, {.name = "pooler"});
  for (int i = 0; i < kLooks; ++i) {
    pqxx::work work(*other);  // keeps its session for as long as it is open
    if (Backend(work) == backend || BackendOf(connection) != backend) return kRefusal;
  }
  return {};
}

std::string TransactionPoolerFound(Session& session) {
  Session::Impl& impl = session.impl();
  try {
    return TransactionPoolerFound(impl.Connect(), impl.config);
  } catch (const Unavailable&) {
    throw;
  } catch (const std::exception& e) {
    impl.Drop();
    throw Unavailable(LossText(e));
  }
}

}  // namespace vedette::store
