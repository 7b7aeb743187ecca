#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <pqxx/pqxx>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "config/config_fwd.h"
#include "store/param.h"
#include "store/session.h"

// Internal to store/: the connection behind a Session.
namespace vedette::store {

// A connection to the configured database with every session setting made. Throws what pqxx throws.
std::unique_ptr<pqxx::connection> OpenConnection(const config::DatabaseConfig& config,
                                                 const SessionOptions& options);

// The same as in store/session.h, of a connection. Throws what pqxx throws.
std::string TransactionPoolerFound(pqxx::connection& connection,
                                   const config::DatabaseConfig& config);

// Whether the exception, in flight or from commit, means that the connection is of no more use.
bool IsConnectionLoss(const std::exception& e);

// What such an exception means, as a sentence for operators (/readyz, logs).
std::string LossText(const std::exception& e);

// What [testing] asks for of one session, at the statements and COMMITs that its names stand for. A
// session has no such object where nothing is; one thread.
class Testing {
 public:
  Testing(const config::TestingConfig& config, base::Logger log);

  void Begin() { statements_.clear(); }
  // The name of the statement to run instead: without the safety that is switched off.
  std::string_view BeforeStatement(std::string_view name);
  void AfterStatement(std::string_view name);
  void BeforeCommit();
  void AfterCommit();

 private:
  enum class Where { kBefore, kAfter, kBeforeCommit, kAfterCommit };
  struct Place;
  static const Place kPlaces[];
  void Pass(Where where, std::string_view statement);

  const config::TestingConfig& config_;
  base::Logger log_;
  std::mt19937_64 random_;
  std::vector<std::string_view> statements_;  // of the transaction that is open
};

struct Session::Impl {
  const config::DatabaseConfig& config;
  SessionOptions options;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  base::Logger log;

  std::unique_ptr<pqxx::connection> connection{};
  // A call of a statement that the connection has prepared, as the session makes it.
  struct Prepared {
    std::string statement;
    std::vector<std::size_t> order;  // of the call's parameters in the statement (Call::Order)
    std::vector<std::uint32_t> element_types;  // of the statement's parameters (QueryElementTypes)
  };
  std::map<const Call*, Prepared> calls{};
  std::set<std::string, std::less<>> prepared{};
  std::unique_ptr<Testing> testing{};  // null = off
  // Whether the database has answered a statement of the transaction under way.
  bool answered = false;
  // Messages to the database whose answers were waited for.
  std::int64_t round_trips = 0;
  // Until then (since boot) attempts to connect fail at once.
  std::chrono::nanoseconds retry_at{0};
  int failures = 0;  // to connect, in a row
  std::string last_error{};
  // What begins a transaction: with all settings, where a transaction pooler keeps none of them.
  std::string begin{};

  // The connection, made if need be. Throws Unavailable.
  pqxx::connection& Connect();
  // On a connection: the call's statement, or the one that runs instead of it.
  const Prepared& Prepare(const Call& call, std::string_view statement);
  void PrepareStatement(const std::string& statement);
  void Drop();
};

}  // namespace vedette::store
