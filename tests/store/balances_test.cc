// Money that is reserved and returned through Balances.

#include "store/balances.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "store/sql.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

constexpr const char* kMonth = "2026-11-01";
constexpr std::int64_t kSeeded = 1'000'000;  // of the fixture's organisation

class BalancesTest : public PipelineTest {
 public:
  store::Account AccountOf(const std::optional<base::Uuid>& team) { return {org, team, kMonth}; }

  // Takes (or, where it is below zero, returns) the amount in a transaction of its own; gives the
  // room that was seen before.
  store::Balances::Room Move(const store::Account& account, std::int64_t amount_mc) {
    return store::InTransaction(session, [&](store::Transaction& tx) {
      store::Balances balances;
      balances.Want(account);
      balances.Lock(tx);
      const store::Balances::Room room = balances.RoomOf(account);
      if (amount_mc >= 0) {
        balances.Take(account, amount_mc);
      } else {
        balances.Return(account, -amount_mc);
      }
      balances.Write(tx);
      return room;
    });
  }

  std::string Balance() { return Sql("select balance_mc from account"); }
  std::string Spent() { return Sql("select spent_mc || ' in ' || month from team_spend"); }
};

TEST_F(BalancesTest, WhatIsTakenLeavesTheBalanceAndCountsAsSpentUntilItReturns) {
  const store::Account account = AccountOf(NewTeam(5000));
  const store::Balances::Room before = Move(account, 3000);
  EXPECT_EQ(before.balance_mc, kSeeded);
  EXPECT_EQ(before.spend_left_mc, 5000);
  EXPECT_EQ(Balance(), "997000");
  EXPECT_EQ(Spent(), "3000 in 2026-11-01");
  const store::Balances::Room after = Move(account, -1000);
  EXPECT_EQ(after.balance_mc, kSeeded - 3000);
  EXPECT_EQ(after.spend_left_mc, 2000);
  EXPECT_EQ(Balance(), "998000");
  EXPECT_EQ(Spent(), "2000 in 2026-11-01");
}

TEST_F(BalancesTest, WithoutATeamOrALimitTheBalanceAloneGivesRoom) {
  EXPECT_EQ(Move(AccountOf(std::nullopt), 1).spend_left_mc, std::nullopt);
  EXPECT_EQ(Move(AccountOf(NewTeam(std::nullopt)), 1).spend_left_mc, std::nullopt);
  EXPECT_EQ(Balance(), "999998");
}

TEST_F(BalancesTest, PayersOfOneOrganisationSeeWhatTheOthersTookInTheSameTransaction) {
  const store::Account a = AccountOf(NewTeam(1000));
  const store::Account b = AccountOf(NewTeam(2000));
  store::InTransaction(session, [&](store::Transaction& tx) {
    store::Balances balances;
    balances.Want(a);
    balances.Want(b);
    balances.Want(a);
    balances.Lock(tx);
    balances.Take(a, 400);
    EXPECT_EQ(balances.RoomOf(b).balance_mc, kSeeded - 400);
    EXPECT_EQ(balances.RoomOf(b).spend_left_mc, 2000);
    EXPECT_EQ(balances.RoomOf(a).spend_left_mc, 600);
    balances.Take(b, 500);
    balances.Return(a, 300);
    EXPECT_EQ(balances.RoomOf(a).spend_left_mc, 900);
    balances.Write(tx);
  });
  EXPECT_EQ(Balance(), "999400");
  EXPECT_EQ(Sql("select string_agg(spent_mc::text, ' ' order by spent_mc) from team_spend"),
            "100 500");
}

TEST_F(BalancesTest, WhereNothingIsLeftToWriteNoRowIsWritten) {
  const store::Account account = AccountOf(NewTeam(1000));
  Move(account, 0);
  EXPECT_EQ(Spent(), "0 in 2026-11-01");  // the row that was locked
  const std::string version = Sql("select xmin from account");
  Move(account, 0);
  EXPECT_EQ(Sql("select xmin from account"), version);
}

// A reservation goes to the database together with COMMIT, where the transaction has settings.
TEST_F(BalancesTest, WhatIsRefusedTogetherWithTheCommitUndoesTheTransactionAndTheSessionGoesOn) {
  using namespace vedette::store;
  const auto take = [&](std::int64_t amount_mc) {
    Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> rows;
    rows.Add(org, amount_mc);
    RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
      tx.ExecLater<"accounts_reserve">(rows);
      tx.ExecLater<"accounts_reserve">(rows);
    });
  };
  take(1000);
  EXPECT_EQ(Balance(), "998000");
  EXPECT_THROW(take(600'000), pqxx::check_violation);
  EXPECT_EQ(Balance(), "998000") << "the first of the two was undone, too";
  take(2000);
  EXPECT_EQ(Balance(), "994000");
}

TEST_F(BalancesTest, WhatHasNotBeenSentComesBeforeTheNextStatement) {
  using namespace vedette::store;
  Rows<Column<"org_id", base::Uuid>, Column<"amount_mc", std::int64_t>> rows;
  rows.Add(org, 1000);
  const auto balance = [&](Transaction& tx, std::size_t ids) {
    const std::vector<base::Uuid> org_ids(ids, org);
    return tx.Exec<"accounts_lock">("org_ids"_a = org_ids)[0]["balance_mc"].as<std::string>();
  };
  RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
    tx.ExecLater<"accounts_reserve">(rows);
    EXPECT_EQ(balance(tx, 1), "999000");
    tx.ExecLater<"accounts_reserve">(rows);
    EXPECT_EQ(balance(tx, 1000), "998000") << "parameters that are too many for text";
  });
  EXPECT_EQ(Balance(), "998000");
}

TEST_F(BalancesTest, NobodyWantedMeansNoStatement) {
  store::InTransaction(session, [](store::Transaction& tx) {
    store::Balances balances;
    EXPECT_TRUE(balances.empty());
    balances.Lock(tx);
    balances.Write(tx);
  });
  EXPECT_EQ(metrics.Expose().find("accounts_lock"), std::string::npos);
}

}  // namespace
}  // namespace vedette::test
