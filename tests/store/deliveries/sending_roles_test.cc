// Roles that send, as a process has them, and the clock that they go by.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "app/monitor_trials.h"
#include "app/service.h"
#include "config/delivery_config.h"
#include "store/database_clock.h"
#include "tests/store/support/sending_support.h"

namespace vedette::test {
namespace {

constexpr std::chrono::hours kAhead{40 * 24};

// A process whose wall clock is wrong by 40 days.
class AheadClock final : public base::Clock {
 public:
  base::Timestamp Now() const override { return own_.Now() + kAhead; }
  std::chrono::nanoseconds SinceBoot() const override { return own_.SinceBoot(); }

 private:
  base::SystemClock own_;
};

// The database's clock decides when a notification is given up and where its history belongs.
TEST_F(SendingTest, G2_AProcessWhoseClockIsFortyDaysAheadKeepsTheSchedule) {
  receiver.status = 500;
  NewMonitor({.rows = 1, .webhook_url = "http://a.example"});
  Sql(fmt::format("update monitor set webhook_url = '{}'", url));
  Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), org_id, endpoint_id, id, id, id, 0, now() from "
      "monitor");
  const AheadClock ahead;
  settings.health.listen = "";
  settings.health.drain_delay_ms = std::chrono::milliseconds(0);
  app::Service service(settings, {app::Role::kDelivery}, ahead, QuietLog());
  service.Start();
  Eventually("select count(*) from delivery_attempt", "1");
  service.Stop();
  EXPECT_EQ(Sql("select state || ' ' || attempts from delivery"), "0 1") << "it is tried again";
  EXPECT_EQ(Sql("select count(*) from delivery_attempt where attempted_at between now() - interval "
                "'10 minutes' and now() + interval '10 minutes'"),
            "1");
}

TEST_F(SendingTest, G10_WebhookTestsAreBoundedAndShared) {
  settings.delivery.tests_in_flight_max = 20;
  const auto neighbour = NewOrganisation(0);
  receiver.Hold();
  std::atomic<int> refused{0};
  std::atomic<int> sent{0};
  Running<app::WebhookTest> running(*this, [this](Running<app::WebhookTest>& in) {
    return std::make_unique<app::WebhookTest>(in.loop, in.pool, clock, settings, QuietLog());
  });
  using Refusal = api::WebhookTestOutcome::Refusal;
  const auto test = [&](const base::Uuid& of) {
    running.part->Test({of, base::Uuid::V4(), url, std::nullopt},
                       [&](const api::WebhookTestOutcome& outcome) {
                         if (outcome.refusal == Refusal::kOrganisation) ++refused;
                         if (outcome.delivered) ++sent;
                       });
  };
  for (int i = 0; i < 100; ++i) test(org);
  Until("what is too much is refused", [&] { return refused >= 80; });
  Until("the rest is under way",
        [&] { return receiver.requests().size() == static_cast<std::size_t>(100 - refused); });
  EXPECT_LT(100 - refused, 20) << "something is left for others";
  const std::size_t before = receiver.requests().size();
  test(neighbour);
  Until("the neighbour's is under way", [&] { return receiver.requests().size() == before + 1; });
  receiver.Release();
  Until("all are answered", [&] { return sent + refused == 101; });
}

TEST(DatabaseClockTest, ASlowAnswerDoesNotMoveWhatIsKnown) {
  const AheadClock own;
  store::DatabaseClock clock(own);
  EXPECT_EQ(std::chrono::round<std::chrono::hours>(clock.Now() - own.Now()).count(), 0);
  const auto at = std::chrono::floor<std::chrono::microseconds>(base::SystemClock().Now());
  const auto boot = own.SinceBoot();
  clock.Learn(at, boot, boot);
  const auto difference = [&] { return (clock.Now() - own.Now()) + kAhead; };
  EXPECT_LT(std::chrono::abs(difference()), std::chrono::seconds(5));
  const auto known = difference();
  clock.Learn(at + std::chrono::seconds(60), boot, boot + std::chrono::seconds(120));
  EXPECT_LT(std::chrono::abs(difference() - known), std::chrono::seconds(5));
  clock.Learn(at + std::chrono::hours(1), boot, boot);
  EXPECT_GT(difference() - known, std::chrono::minutes(59)) << "the database's clock jumped";
}

}  // namespace
}  // namespace vedette::test
