#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "config/database_config.h"
#include "store/move/wire_sql.h"
#include "store/queries.h"

namespace vedette::store {
namespace {

using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

Result Own(PGresult* result) {
  return {result, PQclear};
}

std::int64_t NumberOf(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

[[noreturn]] void Fail(PGconn* connection) {
  std::string text = PQerrorMessage(connection);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw WireError(text);
}

Result Checked(PGconn* connection, PGresult* made, ExecStatusType wanted) {
  Result result = Own(made);
  const ExecStatusType status = PQresultStatus(result.get());
  const bool rows_or_none = wanted == PGRES_TUPLES_OK && status == PGRES_COMMAND_OK;
  if (status != wanted && !rows_or_none) Fail(connection);
  return result;
}

}  // namespace

Wire::Wire(const config::DatabaseConfig& config)
    : connection_(PQconnectdb(config.url.c_str()), PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) Fail(connection_.get());
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  Run("set application_name = 'vedette move'");
  Run("set statement_timeout = 0");
  Run("set idle_in_transaction_session_timeout = 0");
  Run(std::string("set lock_timeout = '") + kLockWait + "'");
  // The database ends what a process or a machine that has died has begun.
  for (const char* one : {"client_connection_check_interval = '1s'", "tcp_keepalives_idle = 10",
                          "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3"}) {
    Run(std::string("set ") + one);
  }
  Run("set time zone 'UTC'");
  Run("set client_encoding = 'UTF8'");
}

Wire::~Wire() = default;

std::vector<Wire::Row> Wire::Run(const std::string& sql,
                                 const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& one : parameters) values.push_back(one.c_str());
  const Result result =
      Checked(connection_.get(),
              PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 0),
              PGRES_TUPLES_OK);
  std::vector<Row> rows;
  const int fields = PQnfields(result.get());
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    Row& made = rows.emplace_back();
    for (int field = 0; field < fields; ++field) {
      if (PQgetisnull(result.get(), row, field) != 0) {
        made.emplace_back();
      } else {
        made.emplace_back(PQgetvalue(result.get(), row, field));
      }
    }
  }
  return rows;
}

std::vector<Wire::Row> Wire::Named(std::string_view name, const Parameters& parameters) {
  std::vector<std::string> ordered;
  for (const std::string& wanted : QueryParameters(name)) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& given) { return given.first == wanted; });
    if (found == parameters.end()) {
      throw std::logic_error(std::string(name) + " lacks " + wanted);
    }
    ordered.push_back(found->second);
  }
  return Run(QueryText(name), ordered);
}

std::string Wire::One(const std::string& sql) {
  const std::vector<Row> rows = Run(sql);
  return rows.empty() ? std::string() : rows.front().front().value_or("");
}

std::int64_t Wire::Number(const std::string& sql) {
  return NumberOf(One(sql));
}

std::int64_t Wire::Change(const std::string& sql) {
  const Result result =
      Checked(connection_.get(), PQexec(connection_.get(), sql.c_str()), PGRES_COMMAND_OK);
  return NumberOf(PQcmdTuples(result.get()));
}

std::string Wire::Quoted(std::string_view text) {
  char* quoted = PQescapeLiteral(connection_.get(), text.data(), text.size());
  if (quoted == nullptr) Fail(connection_.get());
  std::string made = quoted;
  PQfreemem(quoted);
  return made;
}

void Wire::Await(const std::string& sql, int wanted) {
  Checked(connection_.get(), PQexec(connection_.get(), sql.c_str()),
          static_cast<ExecStatusType>(wanted));
}

std::int64_t Wire::CopyTo(Wire& other, const std::string& query, const std::string& into) {
  PGconn* from = connection_.get();
  PGconn* to = other.connection_.get();
  Await("copy (" + query + ") to stdout (format binary)", PGRES_COPY_OUT);
  other.Await("copy " + into + " from stdin (format binary)", PGRES_COPY_IN);
  char* piece = nullptr;
  int bytes = 0;
  bool taken = true;
  while ((bytes = PQgetCopyData(from, &piece, 0)) > 0) {
    taken = taken && PQputCopyData(to, piece, bytes) == 1;
    PQfreemem(piece);
  }
  if (bytes == -2) Fail(from);
  if (!taken || PQputCopyEnd(to, nullptr) != 1) Fail(to);
  Checked(from, PQgetResult(from), PGRES_COMMAND_OK);
  Own(PQgetResult(from));
  const Result done = Checked(to, PQgetResult(to), PGRES_COMMAND_OK);
  Own(PQgetResult(to));
  return NumberOf(PQcmdTuples(done.get()));
}

WireTransaction::WireTransaction(Wire& wire, const std::string& how) : wire_(&wire) {
  wire.Run(how);
}

WireTransaction::~WireTransaction() {
  if (wire_ == nullptr) return;
  try {
    wire_->Run("rollback");
  } catch (const WireError&) {
    // The connection is gone, and the transaction with it.
  }
}

void WireTransaction::Commit() {
  std::exchange(wire_, nullptr)->Run("commit");
}

}  // namespace vedette::store
