#include "store/purses.h"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "base/assert.h"
#include "store/sql.h"

namespace vedette::store {

void Purses::Want(const Payer& payer) {
  base::Assert(state_ == State::kWanting, "a payer is wanted before the purses are locked");
  accounts_.try_emplace(payer.org_id);
  if (payer.team_id) teams_.try_emplace({*payer.team_id, payer.month});
}

void Purses::Lock(Transaction& tx) {
  base::Assert(state_ == State::kWanting, "purses are locked once");
  state_ = State::kLocked;
  if (accounts_.empty()) return;
  std::vector<base::Uuid> org_ids;
  org_ids.reserve(accounts_.size());
  for (const auto& [org_id, account] : accounts_) org_ids.push_back(org_id);
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
void Purses::LockTeams(Transaction& tx) {
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

const Purses::Spending* Purses::SpendingOf(const Payer& payer) const {
  return payer.team_id ? &teams_.at({*payer.team_id, payer.month}) : nullptr;
}

Purses::Room Purses::RoomOf(const Payer& payer) const {
  base::Assert(state_ == State::kLocked, "room is known while the purses are locked");
  const Account& account = accounts_.at(payer.org_id);
  Room room;
  room.balance_mc = account.balance_mc - account.taken_mc;
  const Spending* spending = SpendingOf(payer);
  if (spending != nullptr && spending->limit_mc) {
    room.spend_limit_mc = spending->limit_mc;
    room.spend_left_mc = *spending->limit_mc - spending->spent_mc - spending->taken_mc;
  }
  return room;
}

void Purses::Take(const Payer& payer, std::int64_t amount_mc) {
  base::Assert(amount_mc >= 0, "what is taken is not negative");
  base::Assert(amount_mc <= RoomOf(payer).balance_mc, "a balance has room for what is taken");
  Add(payer, amount_mc);
}

void Purses::Return(const Payer& payer, std::int64_t amount_mc) {
  base::Assert(amount_mc >= 0, "what returns is not negative");
  Add(payer, -amount_mc);
}

void Purses::Add(const Payer& payer, std::int64_t amount_mc) {
  base::Assert(state_ == State::kLocked, "money moves while the purses are locked");
  accounts_.at(payer.org_id).taken_mc += amount_mc;
  if (payer.team_id) teams_.at({*payer.team_id, payer.month}).taken_mc += amount_mc;
}

void Purses::Write(Transaction& tx) {
  base::Assert(state_ == State::kLocked, "purses are written once, after they were locked");
  state_ = State::kWritten;
  WriteAccounts(tx);
  WriteTeams(tx);
}

void Purses::WriteAccounts(Transaction& tx) const {
  Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> taken;
  Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> returned;
  for (const auto& [org_id, account] : accounts_) {
    if (account.taken_mc > 0) taken.Add(org_id, account.taken_mc);
    if (account.taken_mc < 0) returned.Add(org_id, -account.taken_mc);
  }
  if (!taken.empty()) tx.Exec<"accounts_reserve">(taken);
  if (!returned.empty()) tx.Exec<"accounts_return">(returned);
}

void Purses::WriteTeams(Transaction& tx) const {
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
  if (!taken.empty()) tx.Exec<"team_spend_add">(taken);
  if (!returned.empty()) tx.Exec<"team_spend_return">(returned);
}

}  // namespace vedette::store
