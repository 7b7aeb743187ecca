// What a check tells its monitor's receiver (interface 6.1): of which type, to whom, and when not.

#include <fmt/format.h>

#include "tests/store/worker_support.h"

namespace vedette::test {
namespace {

const std::string kHooks = "http://hooks.example";
const std::string kTypes =
    "select coalesce(string_agg(type::text, ',' order by type), '') from delivery";

class NotificationTest : public WorkerTest {
 public:
  // Of three rows one changes, one does not, and one cannot be checked.
  void CheckThree() {
    Cut();
    probe.SetScript([](int n, int) -> std::optional<worker::ProbeResult> {
      if (n == 2) return worker::ProbeFailure{"no_address", "It has no address.", false, {}};
      return Price(n == 0 ? "2" : "1");
    });
    Process process(*this);
    UntilAllChunksAreDone();
  }
};

TEST_F(NotificationTest, EveryOutcomeHasItsTypeOneARowAndCheck) {
  const auto monitor = NewPriced(3, kHooks);
  CheckThree();
  EXPECT_EQ(Outcomes(monitor), "010203");
  EXPECT_EQ(Sql("select string_agg(d.type::text, ',' order by r.position) from delivery d "
                "join monitor_row r on r.id = d.row_id"),
            "0,1,2");
  EXPECT_EQ(Sql("select count(distinct event_group_id) from delivery"), "3");
  // A change is notified under the id of the check whose events tell what changed.
  EXPECT_EQ(Sql("select count(*) from delivery d join event e on e.event_group_id = "
                "d.event_group_id where d.type = 0 and e.event_type = 0 and e.field = 'price'"),
            "1");
}

TEST_F(NotificationTest, OnlyWhatIsSubscribedIsSent) {
  NewPriced(3, kHooks);
  Sql("update monitor set webhook_event_types = '{0,2}'");
  CheckThree();
  EXPECT_EQ(Sql(kTypes), "0,2");
}

TEST_F(NotificationTest, AnEmptyListSendsNothingAlsoWithAUrl) {
  NewPriced(3, kHooks);
  Sql("update monitor set webhook_event_types = '{}'");
  CheckThree();
  EXPECT_EQ(Sql(kTypes), "");
  EXPECT_EQ(sink.reserved, 0);
}

TEST_F(NotificationTest, WithoutAUrlNothingIsSentWhateverIsSubscribed) {
  NewPriced(3);
  EXPECT_EQ(Sql("select webhook_event_types::text from monitor"), "{0,1,2}");
  CheckThree();
  EXPECT_EQ(Sql(kTypes), "");
}

TEST_F(NotificationTest, ACheckThatTheBalanceSkippedSendsNothing) {
  NewPriced(2, kHooks);
  Sql("update account set balance_mc = 1000; update credit_entry set amount_mc = 1000");
  CheckThree();
  EXPECT_EQ(Sql("select string_agg(encode(outcomes, 'hex'), ',') from tick"), "0104");
  EXPECT_EQ(Sql(kTypes), "0") << "the first row's change alone";
}

TEST_F(NotificationTest, ACheckThatTheSpendLimitSkippedSendsNothing) {
  NewPriced(2, kHooks);
  const auto team = NewTeam(1000);
  for (const char* table : {"monitor", "monitor_sched"}) {
    Sql(fmt::format("update {} set team_id = '{}'", table, team.ToString()));
  }
  CheckThree();
  EXPECT_EQ(Sql("select string_agg(encode(outcomes, 'hex'), ',') from tick"), "0105");
  EXPECT_EQ(Sql(kTypes), "0");
}

TEST_F(NotificationTest, ARowThatIsSwitchedOffSendsNothing) {
  NewPriced(3, kHooks);
  Sql("update monitor_row set is_active = false where position < 2;"
      "update monitor_sched set active_row_count = 1");
  CheckThree();
  EXPECT_EQ(Sql(kTypes), "2");
}

}  // namespace
}  // namespace vedette::test
