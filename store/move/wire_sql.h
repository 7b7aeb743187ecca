#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_fwd.h"

struct pg_conn;

// Internal to store/: a connection for statements that are made of names of tables, and for COPY in
// binary form between two databases.
namespace vedette::store {

// The database refused a statement, or is gone.
struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A connection without limits of time for statements: a copy takes as long as it takes. It waits
// for no lock longer than kLockWait. One thread. Everything throws WireError.
class Wire {
 public:
  explicit Wire(const config::DatabaseConfig& config);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  static constexpr const char* kLockWait = "10s";

  using Row = std::vector<std::optional<std::string>>;
  // The rows of the one statement; with parameters for its numbers, as texts.
  std::vector<Row> Run(const std::string& sql, const std::vector<std::string>& parameters = {});
  // The statement of store/queries of that name, with its parameters by their names. Throws
  // std::logic_error for one that is missing.
  using Parameters = std::vector<std::pair<std::string_view, std::string>>;
  std::vector<Row> Named(std::string_view name, const Parameters& parameters = {});
  // The first column of the first row; empty without one, and for NULL.
  std::string One(const std::string& sql);
  std::int64_t Number(const std::string& sql);
  // Rows that the statement changed.
  std::int64_t Change(const std::string& sql);
  std::string Quoted(std::string_view text);

  // Copies the rows of `query` to the table and columns `into` of another database. Both are in a
  // transaction that their caller began.
  std::int64_t CopyTo(Wire& other, const std::string& query, const std::string& into);

 private:
  void Await(const std::string& sql, int wanted);
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

// A transaction of a wire: it is rolled back unless it is committed.
class WireTransaction {
 public:
  WireTransaction(Wire& wire, const std::string& how);
  ~WireTransaction();
  WireTransaction(const WireTransaction&) = delete;
  WireTransaction& operator=(const WireTransaction&) = delete;
  void Commit();

 private:
  Wire* wire_;
};

// A snapshot of the whole: what is read agrees with itself.
inline constexpr const char* kSnapshot = "begin isolation level repeatable read read only";
inline constexpr const char* kWork = "begin";

}  // namespace vedette::store
