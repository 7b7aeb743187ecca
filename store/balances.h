#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/uuid.h"

namespace vedette::store {

class Transaction;

// Internal to store/: the account that pays for a piece of work. A team's spending is counted by
// the month that was fixed when the work first reserved money; without a team the month means
// nothing.
struct Account {
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  std::string month;  // a date of SQL, the first day of the month: "2026-11-01"
};

// Internal to store/: the balances of organisations and the spending of teams, as one transaction
// reserves and gives back money (G4). In thousandths of a credit.
//
//             Want                    Lock                Take, Return             Write
//   kWanting ------> kWanting ------> kLocked ------> kLocked ------> kWritten
//
// Every reservation goes through this class, but for that of job_start, whose transaction locks
// nothing else: because it keeps the lock order that everybody keeps, accounts by id, then spending
// by team and month. A transaction that locks a team's spending holds its organisation's account,
// so that the order among teams alone cannot deadlock. Lock is called after every other lock of the
// transaction has been taken. One instance a transaction; one thread.
class Balances {
 public:
  // What can still be taken, what this transaction took and returned included.
  struct Room {
    std::int64_t balance_mc = 0;
    // Until the team's limit; empty = no limit. Below zero where the limit was lowered.
    std::optional<std::int64_t> spend_left_mc;
    std::optional<std::int64_t> spend_limit_mc{};  // of the team, where it has one
  };

  // Before Lock. The same account may be wanted often.
  void Want(const Account& account);
  // Whether no account is wanted: then Lock and Write run no statement.
  bool empty() const { return accounts_.empty(); }
  // Whether Lock was called, and Write was not.
  bool locked() const { return state_ == State::kLocked; }
  // Locks what is wanted and reads it. Spending that has no row yet gets one.
  void Lock(Transaction& tx);

  // After Lock, of accounts that were wanted.
  Room RoomOf(const Account& account) const;
  // Moves money from the balance into a reservation, and counts it as spent. The amount is at least
  // zero; the balance must have room for it, the team's limit need not.
  void Take(const Account& account, std::int64_t amount_mc);
  // The opposite: a reservation, or a part of it, that was not charged.
  void Return(const Account& account, std::int64_t amount_mc);

  // Writes what changed: at most one update an account and one a team and month.
  void Write(Transaction& tx);

 private:
  enum class State { kWanting, kLocked, kWritten };
  struct Balance {
    std::int64_t balance_mc = 0;
    std::int64_t taken_mc = 0;  // less what was returned
  };
  struct Spending {
    std::int64_t spent_mc = 0;
    std::optional<std::int64_t> limit_mc;
    std::int64_t taken_mc = 0;
  };
  using TeamMonth = std::pair<base::Uuid, std::string>;
  using Teams = std::map<TeamMonth, Spending>;

  void LockTeams(Transaction& tx);
  const Spending* SpendingOf(const Account& account) const;
  void Add(const Account& account, std::int64_t amount_mc);
  void WriteAccounts(Transaction& tx) const;
  void WriteTeams(Transaction& tx) const;

  State state_ = State::kWanting;
  std::map<base::Uuid, Balance> accounts_;
  Teams teams_;
};

}  // namespace vedette::store
