// The worker's pipeline with a scripted probe: claim, check, record.

#include <fmt/format.h>

#include <pqxx/pqxx>

#include "config/database_config.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "store/checks/chunks.h"
#include "store/monitors/control.h"
#include "store/monitors/rows.h"
#include "tests/store/support/outcome_words.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

using domain::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

const worker::ProbeResult kSame = Price("1");
const worker::ProbeResult kOther = Price("2");
const std::string kHooks = "http://hooks.example";

std::optional<worker::ProbeResult> Hold(int, int) {
  return std::nullopt;
}

worker::ProbeResult Timeout(std::optional<milliseconds> retry_after = std::nullopt) {
  return worker::ProbeFailure{"timeout", "The page took too long.", true, retry_after};
}

TEST_F(WorkerTest, G1_G4_G7_EveryCheckOfEveryDueTickIsRecordedOnce) {
  const auto large = NewPriced(300);
  const auto small = NewPriced(3);
  const auto single = NewPriced(1);
  Cut();
  probe.SetScript([](int n, int) { return n % 10 == 0 ? kOther : kSame; });
  Process process(*this);
  UntilAllChunksAreDone();

  EXPECT_EQ(probe.starts(), 304U);
  EXPECT_EQ(probe.checks(), 304U);
  EXPECT_EQ(Outcomes(small), "changed, 2 unchanged");
  EXPECT_EQ(Outcomes(single), "changed");
  EXPECT_EQ(Sql("select count(*) from row_state where last_run_at is null or last_tick_id = 0"),
            "0");
  EXPECT_EQ(
      InWords(Sql("select string_agg(encode(outcomes, 'hex'), ',' order by row_count) from tick "
                  "where outcomes is not null")),
      "changed; changed, 2 unchanged");
  EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  EXPECT_EQ(Sql("select counts::text from tick where counts is not null"),
            "{0,30,270,0,0,0,0,0,0}");
  EXPECT_EQ(Sql("select count(*) from event where event_type = 0 and field = 'price' and "
                "previous_value::text = '\"1\"' and current_value::text = '\"2\"'"),
            "32");
  EXPECT_EQ(Sql("select count(*) from monitor_row where known::text = '{\"price\":\"2\"}'"), "32");
  EXPECT_EQ(Balance(), 1'000'000 - 304 * 1000);
  EXPECT_EQ(Sql("select sum(checks) from credit_entry"), "304");
  ExpectMoneyAddsUp();
  EXPECT_EQ(
      Sql(fmt::format("select count(*) from check_log where monitor_id = '{}'", large.ToString())),
      "2");
}

// What may be rendered is reserved, and what needed no browser returns.
TEST_F(WorkerTest, G4_RenderingIsChargedWhereAPageWasRenderedAndNowhereElse) {
  config::ProbeConfig& low = settings.probes.at("low");
  low.kind = "web";
  low.render = "auto";
  settings.render_mc = 500;
  NewPriced(10);
  Cut();
  const worker::ProbeResult failed = worker::ProbeFailure{"blocked", "A wall.", false, {}};
  worker::ProbeResult rendered = kSame;
  std::get<domain::Observation>(rendered).rendered = true;
  probe.SetScript([&](int n, int) -> std::optional<worker::ProbeResult> {
    if (n == 9) return std::nullopt;
    return n < 3 ? rendered : n == 3 ? failed : kSame;
  });
  Process process(*this);
  Until("one is left", [this] { return probe.held() == 1; });
  EXPECT_EQ(Sql("select balance_mc from account"), std::to_string(1'000'000 - 10 * 1500));
  ExpectMoneyAddsUp();
  probe.Release(process.loop, kSame);
  UntilAllChunksAreDone();
  EXPECT_EQ(Balance(), 1'000'000 - 9 * 1000 - 3 * 500);
  EXPECT_EQ(Series("vedette_credits_charged_total{tier=\"low\"}"), 10.5);
  ExpectMoneyAddsUp();
}

TEST_F(WorkerTest, NotificationsAreCommittedUnderTheDeliverersLeaseAndHandedOver) {
  NewPriced(3, kHooks);
  Cut();
  probe.SetScript([](int n, int) { return n == 0 ? kOther : kSame; });
  Process process(*this);
  UntilAllChunksAreDone();
  Until("all are handed over", [this] { return sink.taken == 3; });
  EXPECT_EQ(Sql("select count(*) from delivery where lease_token is not null and "
                "available_at > now()"),
            "3");
  EXPECT_EQ(Sql("select string_agg(type::text, ',' order by type) from delivery"), "0,1,1");
  EXPECT_EQ(sink.open(), 0);
}

TEST_F(WorkerTest, ARetryableFailureIsTriedAgainUpToTheLimitThenFailsAndCostsNothing) {
  settings.probes.at("low").attempts_max = 2;
  const auto monitor = NewPriced(4);
  Cut();
  probe.SetScript([](int n, int attempt) -> std::optional<worker::ProbeResult> {
    if (n == 0) return Timeout();
    if (n == 1 && attempt == 1) return Timeout();
    if (n == 2) return worker::ProbeFailure{"no_address", "It has no address.", false, {}};
    return kSame;
  });
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "failed, unchanged, failed, unchanged");
  EXPECT_EQ(probe.checks(), 4U);
  EXPECT_EQ(probe.starts(), 6U) << "two more of what is retryable, none of what is not";
  EXPECT_EQ(Sql("select string_agg(message, '|' order by message) from event where event_type = 1"),
            "no_address: It has no address.|timeout: The page took too long.");
  EXPECT_EQ(Sql("select string_agg((last_run_at is null)::text, ',' order by position) "
                "from row_state"),
            "true,false,true,false")
      << "G6: a failed check leaves the window open";
  EXPECT_EQ(Balance(), 998'000);
  ExpectMoneyAddsUp();
}

TEST_F(WorkerTest, AWaitBeyondTheChecksDeadlineIsAFailureAtOnce) {
  settings.probes.at("low").deadline_ms = seconds(10);
  const auto monitor = NewPriced(1);
  Cut();
  probe.SetScript([](int, int) { return Timeout(seconds(11)); });
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "failed");
  EXPECT_EQ(probe.starts(), 1U);
}

// Two checks are in flight, eight wait.
class StoppedWorkerTest : public WorkerTest {
 public:
  StoppedWorkerTest() {
    settings.worker.checks_in_flight_max = 2;
    monitor = NewPriced(10);
    Cut();
    probe.SetScript(Hold);
  }

  void ExpectTheRestSkipped() {
    UntilAllChunksAreDone();
    EXPECT_EQ(probe.starts(), 2U);
    EXPECT_EQ(Outcomes(monitor), "2 unchanged, 8 skipped_paused");
    EXPECT_EQ(InWords(Sql(kTickOutcomes)), "2 unchanged, 8 skipped_paused");
    EXPECT_EQ(Balance(), 998'000) << "what was reserved for the others is back";
    ExpectMoneyAddsUp();
  }

  base::Uuid monitor;
};

TEST_F(StoppedWorkerTest, G5_APauseHoldsForWhatWaitsAndItsMoneyReturns) {
  Process process(*this);
  Until("two are in flight", [this] { return probe.held() == 2; });
  store::PauseMonitor(session, clock, {}, monitor, "why", std::nullopt);
  UntilControlIsRead();
  probe.SetScript([](int, int) { return kSame; });
  probe.Release(process.loop, kSame);
  ExpectTheRestSkipped();
}

TEST_F(StoppedWorkerTest, G5_ARowThatIsSwitchedOffIsNotCheckedAnyMore) {
  Process process(*this);
  Until("two are in flight", [this] { return probe.held() == 2; });
  const auto row = base::Uuid::Parse(Sql("select id from monitor_row where position = 5"));
  const auto back = base::Uuid::Parse(Sql("select id from monitor_row where position = 7"));
  store::SwitchRow(session, clock, {}, monitor, *row, false, "why");
  store::SwitchRow(session, clock, {}, monitor, *back, false, "why");
  store::SwitchRow(session, clock, {}, monitor, *back, true, std::nullopt);
  UntilControlIsRead();
  probe.SetScript([](int, int) { return kSame; });
  probe.Release(process.loop, kSame);
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), 9U);
  EXPECT_EQ(Outcomes(monitor), "5 unchanged, inactive, 4 unchanged")
      << "inactive, as if it had been off before";
  EXPECT_EQ(Balance(), 991'000) << "what was reserved for it is back";
  EXPECT_EQ(Sql("select count(*) from delivery"), "0");
  ExpectMoneyAddsUp();
}

TEST_F(StoppedWorkerTest, G5_ALockOfTheOrganisationHoldsLikewise) {
  Process process(*this);
  Until("two are in flight", [this] { return probe.held() == 2; });
  ASSERT_TRUE(store::ChangeOrganisation(session, clock, org, {.locked = true}, std::nullopt));
  UntilControlIsRead();
  probe.SetScript([](int, int) { return kSame; });
  probe.Release(process.loop, kSame);
  ExpectTheRestSkipped();
}

TEST_F(StoppedWorkerTest, APauseThatWasLiftedBeforeItMatteredSkipsNothing) {
  Process process(*this);
  Until("two are in flight", [this] { return probe.held() == 2; });
  store::PauseMonitor(session, clock, {}, monitor, "why", std::nullopt);
  UntilControlIsRead();
  store::ResumeMonitor(session, clock, {}, monitor, std::nullopt);
  UntilControlIsRead();
  probe.SetScript([](int, int) { return kSame; });
  probe.Release(process.loop, kSame);
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "10 unchanged");
}

TEST_F(StoppedWorkerTest, G5_NoCheckStartsWhilePausesCannotBeRead) {
  settings.worker.control_age_max_ms = milliseconds(300);
  Process process(*this);
  Until("two are in flight", [this] { return probe.held() == 2; });
  pqxx::connection connection(database.url());
  {
    pqxx::work blocker(connection);
    blocker.exec("lock table monitor in access exclusive mode");
    const auto blocked = clock.SinceBoot();
    Until("what is known is too old",
          [&] { return clock.SinceBoot() - blocked > settings.worker.control_age_max_ms; });
    probe.SetScript([](int, int) { return kSame; });
    probe.Release(process.loop, kSame);
    Eventually("select count(*) from row_state where last_tick_id > 0", "2");
    process.Settle();
    EXPECT_EQ(probe.starts(), 2U);
  }
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), 10U);
  EXPECT_EQ(Outcomes(monitor), "10 unchanged");
}

// Two chunks of five rows are held, one check is in flight.
class DrainedWorkerTest : public WorkerTest {
 public:
  DrainedWorkerTest() {
    limits.chunk_rows_max = 8;
    settings.worker.chunk_rows_max = 8;
    settings.worker.checks_in_flight_max = 1;
    NewPriced(5);
    NewPriced(5);
    Cut();
    probe.SetScript(Hold);
  }

  void UntilBothAreHeld() {
    Until("one is in flight", [this] { return probe.held() == 1; });
    Eventually("select count(*) from chunk where lease_token is not null", "2");
    // The claim's transaction may have committed before the loop has heard of it.
    Until("both are held", [this] { return Series("vedette_schedule_lag_seconds_count") == 2; });
  }

  void ExpectAnotherFinishesEachOnce() {
    probe.SetScript([](int, int) { return kSame; });
    Process heir(*this);
    UntilAllChunksAreDone();
    EXPECT_EQ(Sql("select count(*) from row_state where outcome = 2"), "10");
    EXPECT_EQ(Sql("select count(*) from tick where outcomes = '\\x0202020202'"), "2");
    EXPECT_EQ(probe.checks(), 10U);
    EXPECT_EQ(Balance(), 990'000);
    ExpectMoneyAddsUp();
  }

  const std::string kGivenBack =
      "select count(*) from chunk where lease_token is null and available_at <= now() "
      "and claims = 0";
};

TEST_F(DrainedWorkerTest, G2_DrainGivesWhatHasNotStartedBackAtOnceAndRecordsTheRest) {
  {
    Process process(*this);
    UntilBothAreHeld();
    auto done = process.Drain();
    Eventually(kGivenBack, "1");
    EXPECT_EQ(probe.held(), 1U);
    EXPECT_NE(done.wait_for(seconds(0)), std::future_status::ready);
    probe.Release(process.loop, kSame);
    ASSERT_EQ(done.wait_for(seconds(60)), std::future_status::ready);
    Eventually(kGivenBack, "2");
    EXPECT_EQ(Sql("select count(*) from row_state where last_tick_id > 0"), "1");
    EXPECT_EQ(probe.starts(), 1U);
  }
  ExpectAnotherFinishesEachOnce();
  EXPECT_EQ(probe.starts(), 10U);
}

TEST_F(DrainedWorkerTest, WhatIsInFlightTooLongIsGivenBackAndItsLateAnswerIgnored) {
  settings.worker.drain_timeout_ms = milliseconds(50);
  {
    Process process(*this);
    UntilBothAreHeld();
    auto done = process.Drain();
    ASSERT_EQ(done.wait_for(seconds(60)), std::future_status::ready);
    Eventually(kGivenBack, "2");
    probe.Release(process.loop, kOther);
    process.Settle();
    EXPECT_EQ(Sql("select count(*) from row_state where last_tick_id > 0"), "0");
  }
  ExpectAnotherFinishesEachOnce();
  EXPECT_EQ(Sql("select count(*) from event"), "0");
}

TEST_F(DrainedWorkerTest, ACheckThatWaitsForItsNextAttemptIsGivenBackNotFailed) {
  probe.SetScript([](int, int) { return Timeout(seconds(60)); });
  {
    Process process(*this);
    Until("one waits", [this] { return probe.starts() == 1; });
    Until("both are held", [this] { return Series("vedette_schedule_lag_seconds_count") == 2; });
    auto done = process.Drain();
    ASSERT_EQ(done.wait_for(seconds(60)), std::future_status::ready);
    Eventually(kGivenBack, "2");
    EXPECT_EQ(Sql("select count(*) from row_state where last_tick_id > 0"), "0");
  }
  ExpectAnotherFinishesEachOnce();
}

// A neighbour whose checks never end has its share of the slots, and no more.
TEST_F(WorkerTest, G10_OneOrganisationsSlowChecksLeaveSlotsToOthers) {
  settings.worker.checks_in_flight_max = 40;
  NewPriced(256);
  Cut();
  probe.SetScript(Hold);
  Process process(*this);
  Until("its share is in flight", [this] { return probe.held() == 36; });
  process.Settle();
  EXPECT_EQ(probe.starts(), 36U) << "nine tenths";
  const base::Uuid other = NewOrganisation(5000);
  probe.SetScript([](int, int) { return kSame; });
  NewMonitor({.rows = 3, .org = other});
  Sql("update monitor_row set subject = json_build_object('n', position) returning 1");
  Cut();
  Eventually(
      "select count(*) from row_state s join monitor m on m.id = s.monitor_id where m.org_id = '" +
          other.ToString() + "' and s.last_tick_id > 0",
      "3");
  EXPECT_EQ(probe.held(), 36U) << "the neighbour's are still under way";
}

TEST_F(WorkerTest, G12_WhatCannotBeRecordedNowIsRecordedOnceWhenItCan) {
  settings.database.lock_timeout_ms = milliseconds(50);
  NewPriced(3, kHooks);
  Cut();
  Process process(*this);
  pqxx::connection connection(database.url());
  {
    pqxx::work blocker(connection);
    blocker.exec("lock table state_block in share mode");
    Until("a record failed",
          [this] { return Series("vedette_db_errors_total{query=\"record_row_states\"}") >= 3; });
  }
  UntilAllChunksAreDone();
  Until("all are handed over", [this] { return sink.taken == 3; });
  EXPECT_EQ(probe.starts(), 3U) << "no check is made twice for it";
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "3 unchanged");
  EXPECT_EQ(Balance(), 997'000);
  EXPECT_EQ(sink.open(), 0);
  ExpectMoneyAddsUp();
}

// The row is not at fault where the database is: a full disk, no memory, a statement out of time, a
// deadlock.
class ShortDatabaseTest : public WorkerTest, public testing::WithParamInterface<const char*> {};

TEST_P(ShortDatabaseTest, G12_AShortageOfTheDatabaseFailsNoCheck) {
  const auto monitor = NewPriced(3, kHooks);
  Sql("create function refuse() returns trigger language plpgsql as $$ begin raise exception "
      "'short' "
      "using errcode = '" +
      std::string(GetParam()) + "'; end $$");
  Sql("create trigger refuse before update on state_block for each statement execute function "
      "refuse()");
  Cut();
  Process process(*this);
  Until("records failed",
        [this] { return Series("vedette_db_errors_total{query=\"record_row_states\"}") >= 3; });
  Sql("drop trigger refuse on state_block");
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "3 unchanged");
  EXPECT_EQ(probe.starts(), 3U) << "no check is made twice for it";
  EXPECT_EQ(Balance(), 997'000);
  ExpectMoneyAddsUp();
}

INSTANTIATE_TEST_SUITE_P(SqlStates, ShortDatabaseTest,
                         testing::Values("53100", "53200", "57014", "58030", "40P01", "40001"),
                         [](const auto& tested) { return std::string("State") + tested.param; });

TEST_F(WorkerTest, DrainEndsAlsoWhereTheDatabaseTakesNothing) {
  settings.database.lock_timeout_ms = milliseconds(50);
  settings.worker.drain_timeout_ms = milliseconds(100);
  NewPriced(3, kHooks);
  Cut();
  pqxx::connection connection(database.url());
  {
    pqxx::work blocker(connection);
    blocker.exec("lock table state_block in share mode");
    Process process(*this);
    Until("there is something to record", [this] { return sink.reserved == 3; });
    auto done = process.Drain();
    ASSERT_EQ(done.wait_for(seconds(60)), std::future_status::ready);
    Until("no reservation is left open", [this] { return sink.open() == 0; });
  }
  Sql("update chunk set available_at = now()");  // its lease ended
  Process heir(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "3 unchanged");
  EXPECT_EQ(Balance(), 997'000);
  ExpectMoneyAddsUp();
}

// Failed checks that have an error event and a delivery of the type `failed`.
const std::string kFailuresNotified =
    "select count(*) from event e join delivery d using (event_group_id) "
    "where e.event_type = 1 and d.type = 2";

struct UnrecordableCase {
  const char* what;
  worker::ProbeResult result;
};

void PrintTo(const UnrecordableCase& c, std::ostream* out) {
  *out << c.what;
}

std::string CaseName(const testing::TestParamInfo<UnrecordableCase>& tested) {
  return tested.param.what;
}

class UnrecordableTest : public WorkerTest, public testing::WithParamInterface<UnrecordableCase> {};

TEST_P(UnrecordableTest, AResultThatCannotBeStoredFailsItsRowAlone) {
  const auto monitor = NewPriced(5, kHooks);
  const auto neighbour = NewPriced(2);
  Cut();
  probe.SetScript([bad = GetParam().result, seen = 0](int n, int) mutable {
    // The first row 2 is of the monitor with five rows: the other has none.
    return n == 2 && seen++ == 0 ? bad : kOther;
  });
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "2 changed, failed, 2 changed");
  EXPECT_EQ(Outcomes(neighbour), "2 changed");
  EXPECT_EQ(Sql("select count(*) from event where event_type = 1 and message like "
                "'record_failed: %'"),
            "1");
  EXPECT_EQ(Sql(kFailuresNotified), "1");
  EXPECT_EQ(Sql("select count(*) from event where event_type = 0"), "6");
  EXPECT_EQ(Sql(fmt::format("select coalesce(known::text, 'as baseline') from monitor_row "
                            "where monitor_id = '{}' and position = 2",
                            monitor.ToString())),
            "as baseline");
  EXPECT_EQ(Balance(), 1'000'000 - 6 * 1000);
  Until("no reservation is left open", [this] { return sink.open() == 0; });
  ExpectMoneyAddsUp();

  // The row is none the worse for it.
  Sql("update monitor_sched set next_run_at = now()");
  Cut();
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(monitor), "2 unchanged, changed, 2 unchanged");
}

INSTANTIATE_TEST_SUITE_P(
    Results, UnrecordableTest,
    testing::Values(UnrecordableCase{"NulInEvidence", Price("2", std::string("a\0b", 3))},
                    UnrecordableCase{"BadUtf8InEvidence", Price("2", "a\xff\x62")},
                    UnrecordableCase{"NulInValue", Price(std::string("a\0b", 3))},
                    UnrecordableCase{"BadUtf8InValue", Price("a\xff\x62")},
                    UnrecordableCase{
                        "NulInAFailuresMessage",
                        worker::ProbeFailure{"odd", std::string("a\0b", 3), false, std::nullopt}}),
    CaseName);

TEST_F(WorkerTest, G1_AStolenLeaseMeansThatNothingIsRecordedOrCharged) {
  NewPriced(3, kHooks);
  Cut();
  probe.SetScript(Hold);
  Process process(*this);
  Until("all are in flight", [this] { return probe.held() == 3; });
  Sql("update chunk set lease_token = gen_random_uuid()");
  probe.Release(process.loop, kOther);
  Until("the loss is noticed", [this] { return Series("vedette_lease_lost_total") == 1; });
  Until("no reservation is left open", [this] { return sink.open() == 0; });
  EXPECT_EQ(sink.taken, 0);
  EXPECT_EQ(Sql("select count(*) from row_state where last_tick_id > 0"), "0");
  EXPECT_EQ(Sql("select (select count(*) from event) + (select count(*) from delivery) + "
                "(select count(*) from credit_entry where checks is not null)"),
            "0");
  EXPECT_EQ(Sql("select reserved_mc from chunk"), "3000") << "the thief's now";

  probe.SetScript([](int, int) { return kSame; });
  Sql("update chunk set lease_token = null, available_at = now()");
  UntilAllChunksAreDone();
  EXPECT_EQ(InWords(Sql(kTickOutcomes)), "3 unchanged");
  EXPECT_EQ(Balance(), 997'000);
  ExpectMoneyAddsUp();
}

TEST_F(WorkerTest, G1_ALeaseThatIsNotRenewedIsWorkedOnNoMore) {
  settings.worker.lease_ms = milliseconds(300);
  settings.worker.record_partial_delay_ms = seconds(3600);
  NewPriced(3, kHooks);
  Cut();
  probe.SetScript([](int n, int) { return n == 2 ? std::nullopt : std::optional(kOther); });
  Process process(*this);
  Until("two wait to be recorded", [this] { return sink.reserved == 2 && probe.held() == 1; });
  Sql("update chunk set lease_token = gen_random_uuid(), available_at = now() + interval '1 hour'");
  Until("the loss is noticed", [this] { return Series("vedette_lease_lost_total") == 1; });
  Until("no reservation is left open", [this] { return sink.open() == 0; });
  probe.Release(process.loop, kOther);
  process.Settle();
  EXPECT_EQ(sink.reserved, 2);
  EXPECT_EQ(Sql("select count(*) from row_state where last_tick_id > 0"), "0");
  ExpectMoneyAddsUp();
}

// The database was away longer than a lease, or the process stood still, and the first to claim the
// chunk is the one that held it. With room for two chunks, a place lost to each would show.
TEST_F(WorkerTest, G12_AChunkWhoseLeaseEndedMayComeBackToItsHolder) {
  limits.chunk_rows_max = 2;
  settings.worker.chunk_rows_max = 2;
  settings.worker.checks_in_flight_max = 2;
  Process process(*this);
  for (int round = 1; round <= 3; ++round) {
    SCOPED_TRACE(round);
    probe.SetScript(Hold);
    const auto monitor = NewPriced(2, kHooks);
    Cut();
    Until("both are in flight", [this] { return probe.held() == 2; });
    Sql("update chunk set available_at = now()");
    Until("it came back", [&] { return Series("vedette_lease_lost_total") == round; });
    probe.SetScript([](int, int) { return kSame; });
    probe.Release(process.loop, kOther);
    UntilAllChunksAreDone();
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_EQ(Outcomes(monitor), "2 unchanged")
        << "the answers under the former lease do not count";
    EXPECT_EQ(Balance(), 1'000'000 - round * 2000);
  }
  EXPECT_EQ(Sql("select count(*) from event"), "0");
  Until("no reservation is left open", [this] { return sink.open() == 0; });
  ExpectMoneyAddsUp();
}

TEST_F(WorkerTest, ARowThatKeepsEndingItsProcessIsAFailedCheckWithoutAProbe) {
  const auto monitor = NewPriced(1, kHooks);
  Cut();
  Sql(fmt::format("update chunk set claims = {}",
                  store::kLastTryClaims + settings.worker.claims_max - 1));
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), 0U);
  EXPECT_EQ(Outcomes(monitor), "failed");
  EXPECT_EQ(Sql("select message like 'probe_crashed: %' from event"), "t");
  EXPECT_EQ(Sql(kFailuresNotified), "1") << "who waits for the check hears that it failed";
  EXPECT_EQ(Balance(), 1'000'000);
  ExpectMoneyAddsUp();
}

// A neighbour's row may have ended the process during a last try: the row is tried again.
TEST_F(WorkerTest, G10_ARowWhoseLastTryEndedOnceWithItsProcessIsTriedAgain) {
  const auto monitor = NewPriced(1, kHooks);
  Cut();
  Sql(fmt::format("update chunk set claims = {}", store::kLastTryClaims));
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), 1U);
  EXPECT_EQ(Outcomes(monitor), "unchanged");
  EXPECT_EQ(Balance(), 999'000);
  ExpectMoneyAddsUp();
}

// Rows that were in a process when another row ended it are not quarantined with that one.
TEST_F(WorkerTest, ARowThatIsSuspectHasALastTryAndSuspectsAreTriedOneAtATime) {
  const auto first = NewPriced(1);
  Cut();
  const auto second = NewPriced(1);
  Cut();
  ASSERT_EQ(Sql("select count(*) from chunk"), "2");
  Sql(fmt::format("update chunk set claims = {}", settings.worker.claims_max));
  probe.SetScript([](int, int) { return std::nullopt; });
  Process process(*this);
  for (std::size_t tried = 1; tried <= 2; ++tried) {
    Until("a suspect is tried", [this] { return probe.held() == 1; });
    EXPECT_EQ(probe.starts(), tried);
    EXPECT_EQ(
        Sql(fmt::format("select count(*) from chunk where claims = {}", store::kLastTryClaims)),
        "1")
        << "the next who claims it would condemn it";
    probe.Release(process.loop, Price("1"));
  }
  UntilAllChunksAreDone();
  EXPECT_EQ(Outcomes(first), "unchanged");
  EXPECT_EQ(Outcomes(second), "unchanged");
  EXPECT_EQ(Balance(), 998'000);
  ExpectMoneyAddsUp();
}

TEST_F(WorkerTest, AChunkThatKeepsEndingItsProcessIsHalvedAndItsRowsAreCheckedOnce) {
  const auto monitor = NewPriced(8);
  Cut();
  Sql(fmt::format("update chunk set claims = {}", settings.worker.claims_max));
  Process process(*this);
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), 8U);
  EXPECT_EQ(Outcomes(monitor), "8 unchanged");
  EXPECT_EQ(store::CloseLargeTicks(session, 10).count, 1);
  EXPECT_EQ(Balance(), 992'000);
  ExpectMoneyAddsUp();
}

}  // namespace
}  // namespace vedette::test
