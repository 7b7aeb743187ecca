#include "store/balances.h"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "base/assert.h"
#include "store/sql.h"

namespace vedette::store {

void Balances::Want(const Account& account) {
  base::Assert(state_ == State::kWanting, "an account is wanted before the balances are locked");
  accounts_.try_emplace(account.org_id);
  if (account.team_id) teams_.try_emplace({*account.team_id, account.month});
}

void Balances::Lock(Transaction& tx) {
  base::Assert(state_ == State::kWanting, "balances are locked once");
  state_ = State::kLocked;
  if (accounts_.empty()) return;
  std::vector<base::Uuid> org_ids;
  org_ids.reserve(accounts_.size());
  for (const auto& [org_id, balance] : accounts_) org_ids.push_back(org_id);
  for (const auto& row : tx.Exec<"accounts_lock">("org_ids"_a = org_ids)) {
    base::Uuid org_id;
    std::int64_t balance_mc = 0;
    Columns(row).Into("org_id"_a = &org_id, "balance_mc"_a = &balance_mc);
    accounts_.at(org_id).balance_mc = balance_mc;
  }
  if (!teams_.empty()) LockTeams(tx);
}

// A team's first reservation in a month finds no row, makes it and locks again. The lock on the
// account keeps others from making it at the same time.
void Balances::LockTeams(Transaction& tx) {
  Rows<Column<"team_id", base::Uuid>, Column<"month", std::string>> keys;
  for (const auto& [key, spending] : teams_) keys.Add(key.first, key.second);
  const auto lock = [&] {
    const auto rows = tx.Exec<"team_spend_lock">(keys);
    for (const auto& row : rows) {
      TeamMonth key;
      Spending spending;
      Columns(row).Into("team_id"_a = &key.first, "month"_a = &key.second,
                        "spent_mc"_a = &spending.spent_mc, "spend_limit_mc"_a = &spending.limit_mc);
      teams_.at(key) = spending;
    }
    return static_cast<std::size_t>(rows.size()) == teams_.size();
  };
  if (lock()) return;
  tx.Exec<"team_spend_ensure">(keys);
  if (!lock()) throw std::logic_error("a team's spending has no row although it was made");
}

const Balances::Spending* Balances::SpendingOf(const Account& account) const {
  return account.team_id ? &teams_.at({*account.team_id, account.month}) : nullptr;
}

Balances::Room Balances::RoomOf(const Account& account) const {
  base::Assert(state_ == State::kLocked, "room is known while the balances are locked");
  const Balance& balance = accounts_.at(account.org_id);
  Room room;
  room.balance_mc = balance.balance_mc - balance.taken_mc;
  const Spending* spending = SpendingOf(account);
  if (spending != nullptr && spending->limit_mc) {
    room.spend_limit_mc = spending->limit_mc;
    room.spend_left_mc = *spending->limit_mc - spending->spent_mc - spending->taken_mc;
  }
  return room;
}

void Balances::Take(const Account& account, std::int64_t amount_mc) {
  base::Assert(amount_mc >= 0, "what is taken is not negative");
  base::Assert(amount_mc <= RoomOf(account).balance_mc, "a balance has room for what is taken");
  Add(account, amount_mc);
}

void Balances::Return(const Account& account, std::int64_t amount_mc) {
  base::Assert(amount_mc >= 0, "what returns is not negative");
  Add(account, -amount_mc);
}

void Balances::Add(const Account& account, std::int64_t amount_mc) {
  base::Assert(state_ == State::kLocked, "money moves while the balances are locked");
  accounts_.at(account.org_id).taken_mc += amount_mc;
  if (account.team_id) teams_.at({*account.team_id, account.month}).taken_mc += amount_mc;
}

void Balances::Write(Transaction& tx) {
  base::Assert(state_ == State::kLocked, "balances are written once, after they were locked");
  state_ = State::kWritten;
  WriteAccounts(tx);
  WriteTeams(tx);
}

void Balances::WriteAccounts(Transaction& tx) const {
  Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> taken;
  Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> returned;
  for (const auto& [org_id, balance] : accounts_) {
    if (balance.taken_mc > 0) taken.Add(org_id, balance.taken_mc);
    if (balance.taken_mc < 0) returned.Add(org_id, -balance.taken_mc);
  }
  if (!taken.empty()) tx.ExecLater<"accounts_reserve">(taken);
  if (!returned.empty()) tx.ExecLater<"accounts_return">(returned);
}

void Balances::WriteTeams(Transaction& tx) const {
  Rows<Column<"team_id", base::Uuid>, Column<"month", std::string>,
       Column<"amount_mc", std::int64_t>>
      taken;
  Rows<Column<"team_id", base::Uuid>, Column<"month", std::string>,
       Column<"amount_mc", std::int64_t>>
      returned;
  for (const auto& [key, spending] : teams_) {
    if (spending.taken_mc > 0) taken.Add(key.first, key.second, spending.taken_mc);
    if (spending.taken_mc < 0) returned.Add(key.first, key.second, -spending.taken_mc);
  }
  if (!taken.empty()) tx.ExecLater<"team_spend_add">(taken);
  if (!returned.empty()) tx.ExecLater<"team_spend_return">(returned);
}

}  // namespace vedette::store
