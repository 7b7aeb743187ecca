#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <pqxx/pqxx>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/page.h"
#include "store/param.h"
#include "store/session.h"

// Internal to store/: statements by name, parameters, arrays, results. Not to be included
// elsewhere.
namespace vedette::store {

// What a field is read into, by type. Anything but an optional throws for NULL (std::logic_error,
// or what pqxx throws), as does text that is not of the type.
void ReadField(const pqxx::field& field, base::Uuid* out);
// A timestamptz as selected (session TimeZone is UTC, ISO style). '-infinity' and 'infinity' become
// Timestamp::min() and max().
void ReadField(const pqxx::field& field, base::Timestamp* out);
void ReadField(const pqxx::field& field, std::string* out);
void ReadField(const pqxx::field& field, double* out);
void ReadField(const pqxx::field& field, bool* out);
// One-dimensional arrays without NULLs.
void ReadField(const pqxx::field& field, std::vector<std::string>* out);
void ReadField(const pqxx::field& field, std::vector<base::Uuid>* out);
void ReadField(const pqxx::field& field, std::vector<std::int64_t>* out);

template <std::integral T>
void ReadField(const pqxx::field& field, T* out) {
  *out = field.as<T>();
}
template <typename E>
requires(std::is_enum_v<E>) void ReadField(const pqxx::field& field, E* out) {
  *out = static_cast<E>(field.as<int>());
}
template <typename E>
requires(std::is_enum_v<E>) void ReadField(const pqxx::field& field, std::vector<E>* out) {
  std::vector<std::int64_t> numbers;
  ReadField(field, &numbers);
  out->clear();
  for (const std::int64_t number : numbers) out->push_back(static_cast<E>(number));
}
// A whole number of the duration's own unit.
template <typename Period>
void ReadField(const pqxx::field& field, std::chrono::duration<std::int64_t, Period>* out) {
  *out = std::chrono::duration<std::int64_t, Period>(field.as<std::int64_t>());
}
template <typename T>
void ReadField(const pqxx::field& field, std::optional<T>* out) {
  if (field.is_null()) {
    out->reset();
  } else {
    ReadField(field, &out->emplace());
  }
}

// For a bytea field: its bytes.
struct BytesInto {
  std::string* out;
};
struct OptionalBytesInto {
  std::optional<std::string>* out;
};
void ReadField(const pqxx::field& field, BytesInto into);
void ReadField(const pqxx::field& field, OptionalBytesInto into);

// A row's fields one after the other, which is how every row is read: each shape of row has one
// reader, whose Into names the fields in the order of the statement's select list.
// (Indexing a pqxx::row counts two references up and down each time, which shows where there are
// thousands of rows.)
class Columns {
 public:
  explicit Columns(const pqxx::row& row)
      : at_(row.begin()), left_(row.size()), checks_(row.rownumber() == 0) {}

  // Reads the next columns, `"org_id"_a = &org_id` each; the target is a pointer, or a BytesInto.
  // The first row of a result is compared with what is read: std::logic_error where the next column
  // has another name, or is of a type that does not go there.
  template <NameText... names, typename... Targets>
  Columns& Into(const Named<names, Targets>&... targets) {
    (ReadField(Next(names.view(), TypeOf<Targets>::kType), targets.value), ...);
    return *this;
  }

  // Reads the next column whatever it is called: for rows of one column.
  template <typename T>
  void Only(T* target) {
    ReadField(Next(), target);
  }

 private:
  const pqxx::field& Next();
  const pqxx::field& Next(std::string_view name, ValueType type);
  pqxx::row::const_iterator at_;
  pqxx::row::size_type left_;
  const bool checks_;
  bool begun_ = false;
};

// The only column of the first row. Throws std::out_of_range where there is no row.
template <typename T>
T ReadOne(const pqxx::result& result) {
  T value{};
  Columns(result.at(0)).Only(&value);
  return value;
}

// The only column of the first row, if there is one.
template <typename T>
std::optional<T> ReadFirst(const pqxx::result& result) {
  if (result.empty()) return std::nullopt;
  return ReadOne<T>(result);
}

// The only column of every row.
template <typename T>
std::vector<T> ReadEach(const pqxx::result& result) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(result.size()));
  for (const auto& row : result) Columns(row).Only(&values.emplace_back());
  return values;
}

// A page of a statement that gives no row behind the one with which `bytes_until` (its last column:
// the bytes of the rows up to and with this one) comes to `bytes_max`. `read` reads the columns
// before that.
template <typename T, typename F>
Page<T> ReadPage(const pqxx::result& result, int limit, std::size_t bytes_max, F&& read) {
  Page<T> page;
  page.items.reserve(static_cast<std::size_t>(result.size()));
  std::size_t bytes = 0;
  for (const auto& row : result) {
    Columns in(row);
    page.items.push_back(read(in));
    in.Into("bytes_until"_a = &bytes);
  }
  page.more = !page.items.empty() &&
              (page.items.size() >= static_cast<std::size_t>(limit) || bytes >= bytes_max);
  return page;
}

// How a transaction's COMMIT waits. kAsync: a crash of the database may lose it (a lost claim loses
// its reservation with it); nothing is corrupted. kOneStatement: the transaction's one statement
// commits by itself, which saves the round trips of BEGIN and COMMIT; for reads, and for what may
// as well be lost or done twice.
enum class Durability { kSync, kAsync, kOneStatement };

// How the statements of a transaction are planned. kByKey: once for all parameters and without
// scans of whole tables, as in sessions of the fleet, for a transaction that finds every row by its
// key (docs/decisions/0009-plans-by-key.md). Otherwise as the session says.
enum class Plans { kOfSession, kByKey };

// One transaction on the session's connection. Aborts unless Commit was called.
//
// What waits for its answer is a message to the database and one back, and the time of a small
// transaction is how many of those it has. So BEGIN, and what ExecLater is asked for, go together
// with the next statement or with COMMIT, where the transaction has settings of its own (kAsync or
// kByKey) and the parameters are few: they are passed as text then.
class Transaction {
 public:
  explicit Transaction(Session& session, Durability durability = Durability::kSync,
                       Plans plans = Plans::kOfSession);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Runs the statement of store/queries named `statement` with these parameters, in any order: each
  // is `"org_id"_a = id`, or Rows, which stand for one a column (store/param.h). Names are compared
  // when a session first runs the call, std::logic_error where the statement has others. Its
  // duration goes to vedette_db_query_seconds. Throws pqxx::sql_error for what the database
  // refuses; connection losses are turned by InTransaction, through which every transaction goes.
  template <NameText statement, typename... Arguments>
  pqxx::result Exec(const Arguments&... arguments) {
    using Called = CallOf<statement, Arguments...>;
    std::vector<Param> params;
    params.reserve(Called::kSize);
    (ParametersOf<Arguments>::Append(arguments, &params), ...);
    return ExecCall(Called::kCall, std::move(params), Send::kNow);
  }

  // Runs a statement whose rows nobody reads, in its order, but together with the next one or with
  // COMMIT, in one message to the database. What the database refuses is thrown there. Where the
  // transaction or the parameters are not of that kind it runs at once, as by Exec.
  template <NameText statement, typename... Arguments>
  void ExecLater(const Arguments&... arguments) {
    using Called = CallOf<statement, Arguments...>;
    std::vector<Param> params;
    params.reserve(Called::kSize);
    (ParametersOf<Arguments>::Append(arguments, &params), ...);
    ExecCall(Called::kCall, std::move(params), Send::kLater);
  }

  // Lets the COMMIT of a transaction that began as kAsync wait for the disk after all.
  void WaitForDisk();

  // Drops a table of ours; the name is quoted. For expired partitions, whose names are data
  // (DropPartition). From here on the transaction waits kDropWait at most for a lock.
  void DropTable(const std::string& table);

  void Commit();

 private:
  enum class Send { kNow, kLater };
  pqxx::result ExecCall(const Call& call, std::vector<Param> params, Send send);
  pqxx::result Run(const std::string& name, const std::function<pqxx::result()>& send);
  Session::Impl& session_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// How long a drop of a table waits for those who use it, and everybody else behind the drop.
inline constexpr std::chrono::milliseconds kDropWait{100};

inline constexpr int kTransactionAttemptsMax = 3;

// Runs `body(tx)` in a transaction and commits. A deadlock, serialization failure or lock timeout
// is tried again, `attempts_max` times in all, and so is, once, what found a connection from before
// dead at its first statement; `body` may run more than once. Throws Unavailable, CommitUnknown,
// Contention; anything else as thrown, after a rollback.
void RunInTransaction(Session& session, Durability durability,
                      const std::function<void(Transaction&)>& body,
                      Plans plans = Plans::kOfSession, int attempts_max = kTransactionAttemptsMax);

template <typename F>
auto InTransaction(Session& session, F&& body, Durability durability = Durability::kSync,
                   Plans plans = Plans::kOfSession) {
  using R = std::invoke_result_t<F&, Transaction&>;
  if constexpr (std::is_void_v<R>) {
    RunInTransaction(session, durability, body, plans);
  } else {
    std::optional<R> result;
    const auto keep = [&](Transaction& tx) { result.emplace(body(tx)); };
    RunInTransaction(session, durability, keep, plans);
    return std::move(*result);
  }
}

// Waits until what this session committed as kAsync is on disk, and with synchronous replication on
// the standby: as if it had been committed as kSync, only later. It is this session's connection
// that vouches for it: where that is gone, the database may have crashed and forgotten, and
// CommitUnknown is thrown.
void WaitForCommits(Session& session);

// For a body of one statement that reads.
template <typename F>
auto Read(Session& session, F&& body) {
  return InTransaction(session, std::forward<F>(body), Durability::kOneStatement);
}

// The tables that old partitions could not be dropped from when this process last tried.
using TablesInUse = std::set<std::string>;

// Rows that one transaction moves out of a default partition, while nobody else can use it: about a
// second. History that falls there is what was written before the week's partition existed, as
// after a restore or a jump of the database's clock.
inline constexpr int kMovedRowsMax = 100000;

// Drops the partition of `table` in a transaction of its own under the lock of maintenance, behind
// what `before` does there. A drop locks the whole table, and everybody who comes meanwhile waits
// behind it: so it is tried once, for kDropWait at most. False: somebody uses the table, as a
// backup does for hours, or another process has the lock; the next run tries again.
bool DropPartition(Session& session, const std::string& table, const std::string& partition,
                   TablesInUse* in_use, const std::function<void(Transaction&)>& before = {});

}  // namespace vedette::store
