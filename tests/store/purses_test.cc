// Money that is reserved and returned through Purses.

#include "store/purses.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "store/sql.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

constexpr const char* kMonth = "2026-11-01";
constexpr std::int64_t kSeeded = 1'000'000;  // of the fixture's organisation

class PursesTest : public PipelineTest {
 public:
  store::Payer PayerOf(const std::optional<base::Uuid>& team) { return {org, team, kMonth}; }

  // Takes (or, where it is below zero, returns) the amount in a transaction of its own; gives the
  // room that was seen before.
  store::Purses::Room Move(const store::Payer& payer, std::int64_t amount_mc) {
    return store::InTransaction(session, [&](store::Transaction& tx) {
      store::Purses purses;
      purses.Want(payer);
      purses.Lock(tx);
      const store::Purses::Room room = purses.RoomOf(payer);
      if (amount_mc >= 0) {
        purses.Take(payer, amount_mc);
      } else {
        purses.Return(payer, -amount_mc);
      }
      purses.Write(tx);
      return room;
    });
  }

  std::string Balance() { return Sql("select balance_mc from account"); }
  std::string Spent() { return Sql("select spent_mc || ' in ' || month from team_spend"); }
};

TEST_F(PursesTest, WhatIsTakenLeavesTheBalanceAndCountsAsSpentUntilItReturns) {
  const store::Payer payer = PayerOf(NewTeam(5000));
  const store::Purses::Room before = Move(payer, 3000);
  EXPECT_EQ(before.balance_mc, kSeeded);
  EXPECT_EQ(before.spend_left_mc, 5000);
  EXPECT_EQ(Balance(), "997000");
  EXPECT_EQ(Spent(), "3000 in 2026-11-01");
  const store::Purses::Room after = Move(payer, -1000);
  EXPECT_EQ(after.balance_mc, kSeeded - 3000);
  EXPECT_EQ(after.spend_left_mc, 2000);
  EXPECT_EQ(Balance(), "998000");
  EXPECT_EQ(Spent(), "2000 in 2026-11-01");
}

TEST_F(PursesTest, WithoutATeamOrALimitTheBalanceAloneGivesRoom) {
  EXPECT_EQ(Move(PayerOf(std::nullopt), 1).spend_left_mc, std::nullopt);
  EXPECT_EQ(Move(PayerOf(NewTeam(std::nullopt)), 1).spend_left_mc, std::nullopt);
  EXPECT_EQ(Balance(), "999998");
}

TEST_F(PursesTest, PayersOfOneOrganisationSeeWhatTheOthersTookInTheSameTransaction) {
  const store::Payer a = PayerOf(NewTeam(1000));
  const store::Payer b = PayerOf(NewTeam(2000));
  store::InTransaction(session, [&](store::Transaction& tx) {
    store::Purses purses;
    purses.Want(a);
    purses.Want(b);
    purses.Want(a);
    purses.Lock(tx);
    purses.Take(a, 400);
    EXPECT_EQ(purses.RoomOf(b).balance_mc, kSeeded - 400);
    EXPECT_EQ(purses.RoomOf(b).spend_left_mc, 2000);
    EXPECT_EQ(purses.RoomOf(a).spend_left_mc, 600);
    purses.Take(b, 500);
    purses.Return(a, 300);
    EXPECT_EQ(purses.RoomOf(a).spend_left_mc, 900);
    purses.Write(tx);
  });
  EXPECT_EQ(Balance(), "999400");
  EXPECT_EQ(Sql("select string_agg(spent_mc::text, ' ' order by spent_mc) from team_spend"),
            "100 500");
}

TEST_F(PursesTest, WhereNothingIsLeftToWriteNoRowIsWritten) {
  const store::Payer payer = PayerOf(NewTeam(1000));
  Move(payer, 0);
  EXPECT_EQ(Spent(), "0 in 2026-11-01");  // the row that was locked
  const std::string version = Sql("select xmin from account");
  Move(payer, 0);
  EXPECT_EQ(Sql("select xmin from account"), version);
}

TEST_F(PursesTest, NobodyWantedMeansNoStatement) {
  store::InTransaction(session, [](store::Transaction& tx) {
    store::Purses purses;
    EXPECT_TRUE(purses.empty());
    purses.Lock(tx);
    purses.Write(tx);
  });
  EXPECT_EQ(metrics.Expose().find("accounts_lock"), std::string::npos);
}

}  // namespace
}  // namespace vedette::test
