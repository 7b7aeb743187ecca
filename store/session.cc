#include "store/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pqxx/pqxx>

#include "base/backoff.h"
#include "config/database_config.h"
#include "store/async.h"
#include "store/database_url.h"
#include "store/queries.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Adds libpq parameters to a conninfo string or URI, unless it sets them itself.
std::string WithParameter(std::string url, const std::string& key, const std::string& value) {
  if (url.find(key + "=") != std::string::npos) return url;
  const bool uri = url.starts_with("postgres://") || url.starts_with("postgresql://");
  if (!uri) return url + " " + key + "='" + value + "'";
  if (url.find('?') == std::string::npos) {
    url += '?';
  } else if (!url.ends_with('?') && !url.ends_with('&')) {
    url += '&';
  }
  return url + key + "=" + value;
}

// What a server or role may set otherwise and statements rely on. Compiling (jit) pays for
// statements that run for seconds, of which there are none here; and a plan that has to read a
// whole table although that is set off is priced at 1e10, so that the cheapest would be compiled at
// each execution.
constexpr const char* kAsStatementsExpect =
    "{0} jit = off; {0} standard_conforming_strings = on; {0} extra_float_digits = 1;"
    "{0} timezone = 'UTC'; {0} datestyle = 'ISO'; {0} bytea_output = 'hex';"
    "{0} client_min_messages = warning;";

constexpr const char* kKeyedPlans =
    "{0} plan_cache_mode = force_generic_plan; {0} enable_seqscan = off; {0} enable_hashjoin = off;"
    "{0} enable_mergejoin = off;";

// Every pool of the process meets it.
constexpr std::string_view kDatabaseTrouble = "database";

// `set` is "set", or "set local" for one transaction.
std::string Settings(const config::DatabaseConfig& config, const SessionOptions& options,
                     std::string_view set) {
  std::string made = fmt::format(
      "{0} application_name = 'vedette {1}'; {0} statement_timeout = {2}; {0} lock_timeout = {3};"
      "{0} idle_in_transaction_session_timeout = {4}; {0} tcp_user_timeout = {5};",
      set, options.name, config.statement_timeout_ms.count(), config.lock_timeout_ms.count(),
      config.idle_in_transaction_timeout_ms.count(), config.tcp_user_timeout_ms.count());
  made += fmt::format(fmt::runtime(kAsStatementsExpect), set);
  if (options.keyed_plans) made += fmt::format(fmt::runtime(kKeyedPlans), set);
  return made;
}

// What libpq says of a connection may repeat what it was given.
std::unique_ptr<pqxx::connection> Connected(const std::string& url) {
  try {
    return std::make_unique<pqxx::connection>(url);
  } catch (const pqxx::broken_connection& e) {
    throw pqxx::broken_connection(WithoutPassword(url, e.what()));
  }
}

std::string FirstLine(std::string text) {
  const auto end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

}  // namespace

std::unique_ptr<pqxx::connection> OpenConnection(const config::DatabaseConfig& config,
                                                 const SessionOptions& options) {
  const auto seconds = std::max<std::int64_t>(2, config.connect_timeout_ms.count() / 1000);
  std::string url = WithParameter(config.url, "connect_timeout", std::to_string(seconds));
  url = WithParameter(url, "tcp_user_timeout", std::to_string(config.tcp_user_timeout_ms.count()));
  auto connection = Connected(url);
  // libpqxx 6 otherwise reconnects silently and loses these settings. Deprecated there because
  // later versions never reconnect.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection->inhibit_reactivation(true);
#pragma GCC diagnostic pop
  connection->set_client_encoding("UTF8");
  if (config.is_pooled) return connection;
  pqxx::nontransaction tx(*connection);
  tx.exec(Settings(config, options, "set") +
          "set default_transaction_isolation = 'read committed'");
  tx.commit();
  return connection;
}

bool IsConnectionLoss(const std::exception& e) {
  if (dynamic_cast<const pqxx::broken_connection*>(&e) != nullptr) return true;
  if (dynamic_cast<const pqxx::in_doubt_error*>(&e) != nullptr) return true;
  const auto* sql = dynamic_cast<const pqxx::sql_error*>(&e);
  if (sql == nullptr) return false;
  // 57P0x: the server is shutting down, crashed or not up yet; 25P03: idle in transaction for too
  // long; 25006: the server became a standby; 0A000: the same, of a table that is not logged, which
  // a standby cannot even read. libpqxx 6 reports a connection that died in a statement as a plain
  // failure without an SQLSTATE.
  const std::string& state = sql->sqlstate();
  return state.empty() || state.starts_with("57P") || state == "25P03" || state == "25006" ||
         state == "0A000" || state.starts_with("08");
}

// Libraries' words are for those who call them: what operators read says what it means for them.
std::string LossText(const std::exception& e) {
  constexpr const char* kBroke = "the connection to the database broke";
  if (dynamic_cast<const pqxx::in_doubt_error*>(&e) != nullptr) {
    return fmt::format("{} during a COMMIT", kBroke);
  }
  const auto* sql = dynamic_cast<const pqxx::sql_error*>(&e);
  if (sql != nullptr && (sql->sqlstate() == "25006" || sql->sqlstate() == "0A000")) {
    return "the database takes no changes (a standby, or read-only)";
  }
  const std::string text = FirstLine(e.what());
  // What libpqxx 6 says where it finds the connection gone while it prepares an error's text.
  if (text.find("client encoding") != std::string::npos) return kBroke;
  return fmt::format("{}: {}", kBroke, text);
}

pqxx::connection& Session::Impl::Connect() {
  if (connection) return *connection;
  if (clock.SinceBoot() < retry_at) throw Unavailable(last_error);
  try {
    connection = OpenConnection(config, options);
    failures = 0;
    retry_at = {};
    log.TroubleOver(kDatabaseTrouble, "the database can be reached again",
                    {{"pool", options.name}});
    return *connection;
  } catch (const std::exception& e) {
    const auto wait =
        base::Backoff{config.reconnect_first_ms, config.reconnect_max_ms}.Wait(++failures);
    retry_at = clock.SinceBoot() + wait;
    // Without its time, which says how long was waited for and not how slow statements are.
    metrics.ObserveQuery("connect", std::chrono::microseconds(0), false);
    const std::string why = FirstLine(e.what());
    last_error = "cannot connect to the database: " + why;
    log.Trouble(kDatabaseTrouble, "cannot connect to the database",
                {{"pool", options.name}, {"error", why}, {"retry_ms", wait.count()}});
    throw Unavailable(last_error);
  }
}

const Session::Impl::Prepared& Session::Impl::Prepare(const Call& call,
                                                      std::string_view statement) {
  const auto it = calls.find(&call);
  if (it != calls.end()) return it->second;
  Prepared made{std::string(statement), call.Order(QueryParameters(statement)),
                QueryElementTypes(statement)};
  PrepareStatement(made.statement);
  return calls.emplace(&call, std::move(made)).first->second;
}

void Session::Impl::PrepareStatement(const std::string& statement) {
  if (config.is_pooled || prepared.contains(statement)) return;
  connection->prepare(statement, QueryText(statement));
  prepared.insert(statement);
}

void Session::Impl::Drop() {
  connection.reset();
  calls.clear();
  prepared.clear();
}

Session::Session(const config::DatabaseConfig& config, SessionOptions options,
                 const base::Clock& clock, metrics::Metrics& metrics, base::Logger log)
    : impl_(new Impl{config, std::move(options), clock, metrics, log}) {
  impl_->begin = "BEGIN";
  if (config.is_pooled) {
    impl_->begin += " ISOLATION LEVEL READ COMMITTED;";
    impl_->begin += Settings(config, impl_->options, "set local");
  }
  const auto* testing = impl_->options.testing;
  if (testing != nullptr && testing->changes_sessions())
    impl_->testing.reset(new Testing(*testing, log));
}

Session::~Session() = default;

Failure CurrentFailure() {
  try {
    throw;
  } catch (const Unavailable& e) {
    return {Failure::Kind::kUnavailable, e.what()};
  } catch (const CommitUnknown& e) {
    return {Failure::Kind::kCommitUnknown, e.what()};
  } catch (const Contention& e) {
    return {Failure::Kind::kContention, e.what()};
  } catch (const pqxx::sql_error& e) {
    // The lines behind the first may have the values of a row, which are no matter of the log.
    return {Failure::Kind::kFault, FirstLine(e.what())};
  } catch (const std::exception& e) {
    return {Failure::Kind::kFault, e.what()};
  }
}

namespace {

// How often two connections are compared: sessions that a pooler gives out by turns come round.
constexpr int kLooks = 4;

constexpr const char* kRefusal =
    "the database is reached through a transaction pooler (as pgbouncer with pool_mode = "
    "transaction), which gives one session of PostgreSQL to several connections by turns; vedette "
    "keeps settings, prepared statements, locks and LISTEN in its sessions. Let [database] url "
    "lead to PostgreSQL itself, or to a pooler whose pool_mode is session; [database] pooled_url "
    "may "
    "lead to this one, for the roles api and admin";

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

std::string PooledElsewhere(Session& session, const config::DatabaseConfig& pooled) {
  const auto identity = [](pqxx::connection& connection) {
    pqxx::nontransaction tx(connection);
    return ReadOne<std::string>(tx.exec(QueryText("database_identity")));
  };
  try {
    if (identity(session.impl().Connect()) == identity(*OpenConnection(pooled, {.name = "pooler"})))
      return {};
  } catch (const Unavailable&) {
    throw;
  } catch (const std::exception& e) {
    session.impl().Drop();
    throw Unavailable("cannot look at both [database] url and pooled_url: " + FirstLine(e.what()));
  }
  return "[database] pooled_url leads to another database than [database] url: the API would "
         "answer "
         "from one, and the fleet work on the other. Let both lead to the same";
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
