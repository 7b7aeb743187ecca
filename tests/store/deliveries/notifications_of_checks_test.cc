// What a check tells its monitor's receiver: of which type, to whom, and when not.

#include <fmt/format.h>

#include "tests/store/support/outcome_words.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

const std::string kHooks = "http://hooks.example";
const std::string kTypes =
    "select coalesce(string_agg(type::text, ',' order by type), '') from delivery";

class NotificationTest : public WorkerTest {
 public:
  // One of three rows changes, one does not, and one cannot be checked.
  void CheckThree() {
    Cut();
    probe.SetScript([](int n, int) -> std::optional<worker::ProbeResult> {
      if (n == 2) return worker::ProbeFailure{"no_address", "It has no address.", false, {}};
      return Price(n == 0 ? "2" : "1");
    });
    Process process(*this);
    UntilAllChunksAreDone();
  }

  // Changes the monitor while its one check is under way.
  void ChangeUnderWay(const std::string& statement) {
    NewPriced(1, kHooks);
    Sql("update monitor set metadata = '{\"of\": \"before\"}'");
    probe.SetScript([](int, int) { return std::nullopt; });
    Cut();
    Process process(*this);
    Until("the check is under way", [this] { return probe.held() == 1; });
    Sql(statement);
    probe.Release(process.loop, Price("2"));
    UntilAllChunksAreDone();
    process.Settle();
    Until("the sink has its answer", [this] { return sink.open() == 0; });
  }
};

TEST_F(NotificationTest, G2_AUrlAndMetadataThatChangeUnderWayHoldForTheFirstAttempt) {
  ChangeUnderWay(
      "update monitor set webhook_url = 'http://hooks.example/new', metadata = '{\"of\": "
      "\"now\"}'");
  ASSERT_EQ(sink.taken, 1);
  EXPECT_EQ(sink.notifications()[0].url, "http://hooks.example/new");
  EXPECT_EQ(std::get<domain::CheckNotice>(sink.notifications()[0].about).metadata,
            "{\"of\": \"now\"}");
}

TEST_F(NotificationTest, G2_AReceiverThatChangesUnderWayIsTheOneThatIsTold) {
  const std::string other = base::Uuid::V4().ToString();
  ChangeUnderWay(
      fmt::format("insert into endpoint (id, org_id, scheme, host, port) values ('{0}', "
                  "'{1}', 'http', 'other.example', 80); update monitor set webhook_url "
                  "= 'http://other.example', endpoint_id = '{0}'",
                  other, org.ToString()));
  EXPECT_EQ(sink.taken, 0) << "it was reserved for the former one";
  EXPECT_EQ(sink.cancelled, 1);
  EXPECT_EQ(Sql("select endpoint_id || ' ' || (lease_token is null) || ' ' || (available_at <= "
                "now()) from delivery"),
            other + " true true");
}

TEST_F(NotificationTest, AUrlThatIsClearedUnderWayGetsNothing) {
  ChangeUnderWay("update monitor set webhook_url = null, endpoint_id = null");
  EXPECT_EQ(sink.taken, 0);
  EXPECT_EQ(sink.cancelled, 1);
  EXPECT_EQ(Sql(kTypes), "");
}

TEST_F(NotificationTest, EveryOutcomeHasItsTypeOneARowAndCheck) {
  const auto monitor = NewPriced(3, kHooks);
  CheckThree();
  EXPECT_EQ(Outcomes(monitor), "changed, unchanged, failed");
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
  EXPECT_EQ(InWords(Sql("select string_agg(encode(outcomes, 'hex'), ',') from tick")),
            "changed, skipped_balance");
  EXPECT_EQ(Sql(kTypes), "0") << "the first row's change alone";
}

TEST_F(NotificationTest, ACheckThatTheSpendLimitSkippedSendsNothing) {
  NewPriced(2, kHooks);
  const auto team = NewTeam(1000);
  for (const char* table : {"monitor", "monitor_sched"}) {
    Sql(fmt::format("update {} set team_id = '{}'", table, team.ToString()));
  }
  CheckThree();
  EXPECT_EQ(InWords(Sql("select string_agg(encode(outcomes, 'hex'), ',') from tick")),
            "changed, skipped_spend_limit");
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
