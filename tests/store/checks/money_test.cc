#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "store/accounts/accounts.h"
#include "tests/store/support/pipeline_support.h"

// What happens to prices, limits and balances while checks are under way (G4).
namespace vedette::test {
namespace {

using domain::Outcome;

class MoneyTest : public PipelineTest {
 public:
  std::string Balance() { return Sql("select balance_mc from account"); }
};

TEST_F(MoneyTest, G4_APriceThatChangesBetweenReservingAndSettlingHoldsForWhatComesLater) {
  NewMonitor({.rows = 2});
  Cut();
  const auto claim = ClaimAll();
  EXPECT_EQ(Balance(), "998000");
  prices[domain::Tier::kLow] = 3000;
  Sql("update chunk set available_at = now()");
  const auto again = ClaimAll();
  ASSERT_EQ(again.chunks.size(), 1U);
  EXPECT_EQ(again.chunks[0].price_mc, 1000) << "a chunk keeps the price that it was admitted at";
  Record(FinishAll(again, Outcome::kUnchanged));
  EXPECT_EQ(Balance(), "998000");
  ExpectMoneyAddsUp();

  NewMonitor({.rows = 2});
  Cut();
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Balance(), "992000");
  EXPECT_EQ(Sql("select string_agg(amount_mc || ' for ' || checks, ', ' order by amount_mc) from "
                "credit_entry where checks is not null"),
            "-6000 for 2, -2000 for 2");
  ExpectMoneyAddsUp();
}

TEST_F(MoneyTest, G4_TopUpsAndClaimsAtTheSameTimeLoseAndMakeNothing) {
  Sql("update account set balance_mc = 0; delete from credit_entry");
  for (int i = 0; i < 8; ++i) NewMonitor({.rows = 100});
  limits.chunk_rows_max = 16;
  while (Cut().more) {
  }
  const auto top_up = [this] {
    store::Session own(config, {.name = "top-up"}, clock, metrics,
                       base::Logger(base::LogLevel::kOff, base::LogFormat::kText));
    for (int i = 0; i < 20; ++i) {
      const auto done = store::AddCredits(own, clock, org, 10'000, "a test", {});
      EXPECT_EQ(done.kind, store::CreditOutcome::Kind::kDone);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) threads.emplace_back(top_up);
  for (int i = 0; i < 200 && Sql("select count(*) from chunk") != "0"; ++i) {
    Record(FinishAll(ClaimAll(4), Outcome::kUnchanged));
    ExpectMoneyAddsUp();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Sql("select count(*) from chunk"), "0");
  EXPECT_EQ(Sql("select balance_mc + 1000 * (select count(*) from row_state where outcome = 2) "
                "from account"),
            "600000");
  ExpectMoneyAddsUp();
}

TEST_F(MoneyTest, G4_WhatIsNotPaidIsInPositionOrderAndStoresNoEvent) {
  Sql("update account set balance_mc = 300000; update credit_entry set amount_mc = 300000");
  NewMonitor({.rows = 600});
  while (Cut().more ||
         Sql("select count(*) from monitor_sched where portion_at is not null") != "0") {
    store::MaterialisePortions(session, clock, limits);
  }
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  ASSERT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  EXPECT_EQ(Sql("select counts::text from tick"), "{0,0,300,0,300,0,0,0,0}");
  EXPECT_EQ(Balance(), "0");
  // Chunks are paid for one by one, and each pays its first rows: none is paid behind one that is
  // not in the same chunk.
  EXPECT_EQ(Sql("select count(*) from row_state a join row_state b on a.monitor_id = b.monitor_id "
                "and a.position / 256 = b.position / 256 and a.position < b.position "
                "where a.outcome = 4 and b.outcome = 2"),
            "0");
  EXPECT_EQ(Sql("select count(*) from event"), "0") << "an empty balance inserts no events";
}

TEST_F(MoneyTest, TheSpendLimitBeginsAnewWithTheCalendarMonth) {
  const auto team = NewTeam(2000);
  const auto tick = [&] {
    NewMonitor({.rows = 2, .team = team});
    Cut();
    const auto claim = ClaimAll();
    Record(FinishAll(claim, Outcome::kUnchanged));
    return claim.chunks.at(0).parts.at(0).decided[0];
  };
  EXPECT_EQ(tick(), std::nullopt);
  EXPECT_EQ(tick(), Outcome::kSkippedSpendLimit);
  // What was spent was spent in the month before; at its turn nothing else happens.
  Sql("update team_spend set month = (month - interval '1 month')::date");
  EXPECT_EQ(tick(), std::nullopt);
  EXPECT_EQ(tick(), Outcome::kSkippedSpendLimit);
  EXPECT_EQ(Sql("select string_agg(spent_mc::text, ' ') from team_spend"), "2000 2000");
  ExpectMoneyAddsUp();
}

TEST_F(MoneyTest, AChunkThatChangesHandsAtTheMonthsTurnStaysWithItsMonth) {
  const auto team = NewTeam(2000);
  NewMonitor({.rows = 2, .team = team});
  Cut();
  ClaimAll();
  // The month turns while its worker is dead.
  Sql("update chunk set month = (month - interval '1 month')::date, available_at = now();"
      "update team_spend set month = (month - interval '1 month')::date");
  Record(FinishAll(ClaimAll(), Outcome::kUnchanged));
  EXPECT_EQ(Sql("select coalesce(sum(spent_mc), 0) from team_spend where month = "
                "date_trunc('month', now() at time zone 'UTC')::date"),
            "0");
  EXPECT_EQ(Sql("select sum(spent_mc) from team_spend"), "2000");
}

}  // namespace
}  // namespace vedette::test
