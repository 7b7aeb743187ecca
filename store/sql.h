#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/session.h"

// Internal to store/: statements by name, parameters, arrays, results. Not to be included
// elsewhere.
namespace vedette::store {

// A parameter in text form; empty = NULL. Text with a NUL byte is refused with
// std::invalid_argument: libpq would cut it there silently.
class Param {
 public:
  Param(std::nullopt_t) {}
  Param(std::string_view text);
  Param(const std::string& text) : Param(std::string_view(text)) {}
  Param(const char* text) : Param(std::string_view(text)) {}
  Param(bool v) : text_(v ? "t" : "f") {}
  template <std::integral T>
  requires(!std::is_same_v<T, bool>) Param(T v) : text_(std::to_string(v)) {}
  template <typename E>
  requires(std::is_enum_v<E>) Param(E v) : text_(std::to_string(static_cast<long long>(v))) {}
  Param(double v);
  Param(const base::Uuid& id) : text_(id.ToString()) {}
  Param(base::Timestamp t) : text_(base::FormatTimestamp(t)) {}
  template <typename T>
  Param(const std::optional<T>& v) {
    if (v) text_ = Param(*v).text_;
  }
  template <typename T>
  Param(const std::vector<T>& v) : text_(ArrayText(v)) {}

  const char* c_str() const { return text_ ? text_->c_str() : nullptr; }
  const std::optional<std::string>& text() const { return text_; }

 private:
  template <typename T>
  static std::string ArrayText(const std::vector<T>& v) {
    std::string out = "{";
    for (const auto& e : v) {
      if (out.size() > 1) out += ',';
      AppendElement(&out, e);
    }
    out += '}';
    return out;
  }
  // Numbers, ids and times need no quotes.
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, base::Uuid> ||
           std::is_same_v<T, base::Timestamp>) static void AppendElement(std::string* out,
                                                                         const T& e) {
    *out += *Param(e).text_;
  }
  static void AppendElement(std::string* out, std::string_view text);
  template <typename T>
  static void AppendElement(std::string* out, const std::optional<T>& e) {
    if (e) {
      AppendElement(out, *e);
    } else {
      *out += "NULL";
    }
  }

  std::optional<std::string> text_;
};

// Whether a statement that has the columns `bytes` and `bytes_until` (the sum up to and with each
// row), and gives no row behind the one that comes to `bytes_max`, was cut there or at `limit`
// rows.
bool IsCutShort(const pqxx::result& result, int limit, std::size_t bytes_max);

// A row's fields one after the other. Indexing a row counts two references up and down each time,
// which shows where there are thousands of rows.
class Columns {
 public:
  explicit Columns(const pqxx::row& row) : at_(row.begin()) {}

  const pqxx::field& Next() {
    if (begun_) ++at_;
    begun_ = true;
    return at_;
  }

 private:
  pqxx::row::const_iterator at_;
  bool begun_ = false;
};

// For a bytea parameter: "\x..." text. Inside an array of them the usual quoting applies.
std::string Bytea(std::string_view bytes);

// The bytes of a bytea field.
std::string ReadBytea(const pqxx::field& field);
base::Uuid ReadUuid(const pqxx::field& field);
std::optional<base::Uuid> ReadUuidOrNull(const pqxx::field& field);
// A timestamptz field as selected (session TimeZone is UTC, ISO style). '-infinity' and 'infinity'
// become Timestamp::min() and max().
base::Timestamp ReadTime(const pqxx::field& field);
std::optional<base::Timestamp> ReadTimeOrNull(const pqxx::field& field);
std::optional<std::string> ReadTextOrNull(const pqxx::field& field);
// A one-dimensional array without NULLs.
std::vector<std::string> ReadTextArray(const pqxx::field& field);
std::vector<std::int64_t> ReadIntArray(const pqxx::field& field);
std::vector<base::Uuid> ReadUuidArray(const pqxx::field& field);

// How a transaction's COMMIT waits. kAsync: a crash of the database may lose it (a lost claim loses
// its reservation with it); nothing is corrupted. kOneStatement: the transaction's one statement
// commits by itself, which saves the round trips of BEGIN and COMMIT; for reads, and for what may
// as well be lost or done twice.
enum class Durability { kSync, kAsync, kOneStatement };

// One transaction on the session's connection. Aborts unless Commit was called.
class Transaction {
 public:
  explicit Transaction(Session& session, Durability durability = Durability::kSync);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Runs the statement of store/queries named `name`; its duration goes to
  // vedette_db_query_seconds. Throws pqxx::sql_error for what the database refuses; connection
  // losses are turned by InTransaction, through which every transaction goes.
  template <typename... Args>
  pqxx::result Exec(std::string_view name, const Args&... args) {
    std::array<Param, sizeof...(Args)> params{Param(args)...};
    return ExecParams(name, params.data(), params.size());
  }

  // Drops a table of ours; the name is quoted. For expired partitions, whose names are data.
  void DropTable(const std::string& table);

  void Commit();

 private:
  pqxx::result ExecParams(std::string_view name, const Param* params, std::size_t n);
  Session::Impl& session_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Runs `body(tx)` in a transaction and commits. A deadlock, serialization failure or lock timeout
// is tried again, three times in all, so `body` may run more than once. Throws Unavailable,
// CommitUnknown, Contention; anything else as thrown, after a rollback.
void RunInTransaction(Session& session, Durability durability,
                      const std::function<void(Transaction&)>& body);

template <typename F>
auto InTransaction(Session& session, F&& body, Durability durability = Durability::kSync) {
  using R = std::invoke_result_t<F&, Transaction&>;
  if constexpr (std::is_void_v<R>) {
    RunInTransaction(session, durability, body);
  } else {
    std::optional<R> result;
    RunInTransaction(session, durability, [&](Transaction& tx) { result.emplace(body(tx)); });
    return std::move(*result);
  }
}

// For a body of one statement that reads.
template <typename F>
auto Read(Session& session, F&& body) {
  return InTransaction(session, std::forward<F>(body), Durability::kOneStatement);
}

}  // namespace vedette::store
