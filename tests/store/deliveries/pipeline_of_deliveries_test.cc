// The path of a notification through the database: committed, claimed, attempted, settled.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "domain/job/job.h"
#include "store/deliveries/deliveries.h"
#include "store/deliveries/delivery_views.h"
#include "store/fleet/fleet.h"
#include "tests/store/support/jobs_support.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using domain::AttemptEnd;

class DeliveryTest : public PipelineTest {
 public:
  // Records one changed check of a monitor with a receiver at `host`; its delivery is left to
  // claims.
  base::Uuid Commit(const std::string& host, std::optional<base::Uuid> token = std::nullopt) {
    const auto monitor = NewMonitor({.rows = 1, .webhook_url = "http://" + host});
    Cut();
    const auto claim = ClaimAll();
    auto records = FinishAll(claim, domain::Outcome::kChanged);
    const auto& part = claim.chunks[0].parts[0];
    const auto& spec = *claim.specs.at(monitor);
    const auto id = base::Uuid::V7(clock);
    records[0].deliveries.push_back({id, org, *spec.endpoint_id, monitor, part.rows[0].row_id,
                                     domain::EventGroupId(part.rows[0].row_id, part.part.tick_id),
                                     domain::NotificationType::kChanged, token});
    Record(records);
    return id;
  }

  store::DeliveryClaim Claim(int per_endpoint = 10) {
    return store::ClaimDeliveries(session, {}, base::Uuid::V4(), Limits(per_endpoint), {}, {});
  }

  store::DeliveryClaimLimits Limits(int per_endpoint) const {
    const base::FairShares<base::Uuid> room(100, 0.1);
    return {200, per_endpoint, room, room, room, 3, std::chrono::seconds(30), lease};
  }

  store::AttemptRecord Attempt(const store::LeasedDelivery& d, AttemptEnd end) {
    store::AttemptRecord a;
    a.end = end;
    a.notification = d.notification;
    a.lease_token = d.lease_token;
    a.attempt = d.attempts + 1;
    a.attempted_at = clock.Now();
    if (end == AttemptEnd::kDelivered) {
      a.status_code = 200;
      a.receiver = domain::ReceiverState::kWorks;
    } else {
      a.receiver = domain::ReceiverState::kFails;
      a.status_code = 500;
      a.error = "http_status: 500";
      a.answer = std::string("\0\xff", 2);
    }
    return a;
  }

  void Settle(const store::AttemptRecord& attempt) {
    store::SettleAttempts(session, {attempt}, false, 3, std::chrono::seconds(30));
  }
};

TEST_F(DeliveryTest, G2_ADeliveredNotificationLeavesAndStaysInTheHistory) {
  Commit("a.example");
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  EXPECT_EQ(claim.deliveries[0].notification.url, "http://a.example");
  EXPECT_TRUE(Claim().deliveries.empty()) << "it is leased";
  Settle(Attempt(claim.deliveries[0], AttemptEnd::kDelivered));
  EXPECT_EQ(Sql("select count(*) from delivery"), "0");
  EXPECT_EQ(Sql("select attempt || ' ' || delivered || ' ' || status_code from delivery_attempt"),
            "1 true 200");
}

// The answer to the COMMIT was lost: the same settlement comes again.
TEST_F(DeliveryTest, G3_ASettlementThatIsRepeatedIsInHistoryOnce) {
  Commit("a.example");
  Commit("b.example");
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 2U);
  const store::AttemptRecord delivered = Attempt(claim.deliveries[0], AttemptEnd::kDelivered);
  const store::AttemptRecord failed = Attempt(claim.deliveries[1], AttemptEnd::kRetry);
  const auto settle = [&](bool again) {
    store::SettleAttempts(session, {delivered, failed}, again, 3, std::chrono::seconds(30));
  };
  settle(true);  // the first did not happen after all
  settle(true);
  EXPECT_EQ(
      Sql("select count(*) || ' ' || count(*) filter (where delivered) from delivery_attempt"),
      "2 1");
  EXPECT_EQ(Sql("select max(failures) from endpoint"), "1");
}

// Whatever was found of them: two settlements of the same receivers would meet in a deadlock.
TEST_F(DeliveryTest, ASettlementLocksReceiversInTheOrderOfTheirIds) {
  Commit("a.example");
  Commit("b.example");
  Sql("update endpoint set failures = 1");
  auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 2U);
  const auto endpoint = [](const auto& d) { return d.notification.endpoint_id; };
  std::sort(claim.deliveries.begin(), claim.deliveries.end(),
            [&](const auto& a, const auto& b) { return endpoint(a) < endpoint(b); });
  const std::vector attempts = {Attempt(claim.deliveries[0], AttemptEnd::kRetry),
                                Attempt(claim.deliveries[1], AttemptEnd::kDelivered)};
  pqxx::connection connection(database.url());
  pqxx::work neighbour(connection);
  const auto lock = [&](const store::LeasedDelivery& d) {
    neighbour.exec("select from endpoint where id = '" + endpoint(d).ToString() +
                   "' for update nowait");
  };
  lock(claim.deliveries[0]);
  store::Session other(config, {.name = "delivery", .keyed_plans = true}, clock, metrics,
                       {base::LogLevel::kOff, base::LogFormat::kText});
  std::thread settling(
      [&] { store::SettleAttempts(other, attempts, false, 3, std::chrono::seconds(30)); });
  Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  EXPECT_NO_THROW(lock(claim.deliveries[1]));
  neighbour.commit();
  settling.join();
  EXPECT_EQ(Sql("select string_agg(failures::text, ' ' order by id) from endpoint"), "2 0");
}

TEST_F(DeliveryTest, G2_ADeadSendersDeliveryIsClaimedAgainWhenItsLeaseEnds) {
  Commit("a.example", base::Uuid::V4());
  EXPECT_TRUE(Claim().deliveries.empty());
  Sql("update delivery set available_at = now()");
  EXPECT_EQ(Claim().deliveries.size(), 1U);
}

TEST_F(DeliveryTest, AFailedAttemptWaitsAndALostLeaseSettlesNothing) {
  Commit("a.example");
  const auto claim = Claim();
  auto failed = Attempt(claim.deliveries[0], AttemptEnd::kRetry);
  failed.retry_in = std::chrono::hours(1);
  Settle(failed);
  EXPECT_EQ(
      Sql("select attempts || ' ' || (available_at > now() + interval '59 minutes') || ' ' || "
          "last_error from delivery"),
      "1 true http_status: 500");
  EXPECT_EQ(Sql("select encode(answer, 'hex') from delivery_attempt"), "00ff");
  Settle(Attempt(claim.deliveries[0], AttemptEnd::kDelivered));
  EXPECT_EQ(Sql("select count(*) from delivery"), "1")
      << "the lease was given up by the first settle";
}

// The body is made anew from the monitor, so that a dead receiver does not fill the log with
// bodies.
TEST_F(DeliveryTest, ARetryWritesLittleHoweverLongTheMetadata) {
  Commit("a.example");
  Sql("update monitor set metadata = json_build_object('note', (select string_agg(md5(n::text), '')"
      " from generate_series(1, 500) n))");
  constexpr std::size_t kMetadataBytes = 500 * 32;
  const auto lsn = [this] {
    return std::stod(Sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"));
  };
  double least = 1e9;            // without whole pages, which follow a checkpoint
  for (int i = 0; i < 3; ++i) {  // then the breaker opens
    const double before = lsn();
    const auto claim = Claim();
    ASSERT_EQ(claim.deliveries.size(), 1U);
    EXPECT_GT(
        std::get<domain::CheckNotice>(claim.deliveries[0].notification.about).metadata->size(),
        kMetadataBytes);
    store::SettleAttempts(session, {Attempt(claim.deliveries[0], AttemptEnd::kRetry)}, false, 100,
                          std::chrono::seconds(30));
    least = std::min(least, lsn() - before);
  }
  EXPECT_LT(least, kMetadataBytes / 4);
}

TEST_F(DeliveryTest, AnExhaustedScheduleLeavesItDeadAndReadable) {
  Commit("a.example");
  Settle(Attempt(Claim().deliveries[0], AttemptEnd::kDead));
  EXPECT_EQ(Sql("select state from delivery"), "1");
  EXPECT_TRUE(Claim().deliveries.empty());
}

TEST_F(DeliveryTest, ARetryGoesToTheMonitorsCurrentUrl) {
  Commit("old.example");
  const auto endpoint =
      Sql(fmt::format("insert into endpoint (id, org_id, scheme, host, port) values "
                      "(gen_random_uuid(), '{}', 'https', "
                      "'new.example', 443) returning id",
                      org.ToString()));
  Sql(fmt::format("update monitor set webhook_url = 'https://new.example/x', endpoint_id = '{}'",
                  endpoint));
  EXPECT_TRUE(Claim().deliveries.empty()) << "it moves first";
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  EXPECT_EQ(claim.deliveries[0].notification.url, "https://new.example/x");
}

TEST_F(DeliveryTest, AClearedUrlKillsWhatIsPending) {
  Commit("a.example");
  Sql("update monitor set webhook_url = null, endpoint_id = null");
  EXPECT_TRUE(Claim().deliveries.empty());
  EXPECT_EQ(Sql("select state || ' ' || split_part(last_error, ':', 1) from delivery"),
            "1 webhook_cleared");
}

TEST_F(DeliveryTest, G10_ADeadReceiverIsTriedOnceAnIntervalAndDelaysNobody) {
  for (int i = 0; i < 4; ++i) Commit("dead.example");
  Commit("well.example");
  for (int i = 0; i < 3; ++i) {
    auto claim = Claim(1);
    for (const auto& d : claim.deliveries) {
      if (d.notification.url != "http://dead.example") continue;
      Settle(Attempt(d, AttemptEnd::kRetry));
    }
  }
  EXPECT_EQ(Sql("select failures from endpoint where host = 'dead.example'"), "3");
  Sql("update delivery set available_at = now(), lease_token = null");
  auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U) << "the breaker is open";
  EXPECT_EQ(claim.deliveries[0].notification.url, "http://well.example");
  Sql("update endpoint set available_at = now() where host = 'dead.example'");
  claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U) << "one attempt tries it";
  EXPECT_TRUE(claim.deliveries[0].endpoint_failing);
  Settle(Attempt(claim.deliveries[0], AttemptEnd::kDelivered));
  EXPECT_EQ(Sql("select failures from endpoint where host = 'dead.example'"), "0");
  EXPECT_EQ(Claim().deliveries.size(), 3U) << "and its backlog follows";
}

TEST_F(DeliveryTest, A410ClosesTheBreakerSoThatItsBacklogMayEnd) {
  for (int i = 0; i < 4; ++i) Commit("a.example");
  for (const auto& d : Claim(3).deliveries) Settle(Attempt(d, AttemptEnd::kRetry));
  ASSERT_EQ(Sql("select failures from endpoint"), "3");
  Sql("update delivery set available_at = now()");
  Sql("update endpoint set available_at = now()");
  auto gone = Attempt(Claim().deliveries.at(0), AttemptEnd::kDead);
  gone.status_code = 410;
  gone.receiver = domain::ReceiverState::kWorks;
  Settle(gone);
  EXPECT_EQ(Sql("select failures || ' ' || (failing_since is null) from endpoint"), "0 true");
  EXPECT_EQ(Claim().deliveries.size(), 3U);
}

// Its backlog is bounded by time alone (72 h, behind an open breaker 7 days), so it may be long.
TEST_F(DeliveryTest, G10_AClaimReadsNoMoreBesideTheBacklogOfADeadReceiver) {
  Commit("dead.example");
  Commit("well.example");
  Sql("update endpoint set failures = 9, available_at = now() + interval '1 hour' where host = "
      "'dead.example'");
  const auto entries_read = [this] {
    const std::string read =
        "select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('delivery', "
        "'endpoint')";
    const double before = std::stod(Sql(read));
    {
      store::Session own(config, {.name = "claim", .keyed_plans = true}, clock, metrics,
                         base::Logger(base::LogLevel::kError, base::LogFormat::kText));
      const auto claim = store::ClaimDeliveries(own, {}, base::Uuid::V4(), Limits(10), {}, {});
      EXPECT_EQ(claim.deliveries.size(), 1U);
    }
    Sql("update delivery set available_at = now(), lease_token = null where lease_token is not "
        "null");
    for (int i = 0; i < 1000 && std::stod(Sql(read)) == before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // statistics come a little later
    }
    return std::stod(Sql(read)) - before;
  };
  const double alone = entries_read();
  Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), org_id, endpoint_id, monitor_id, row_id, "
      "event_group_id, type, now() from delivery, generate_series(1, 100000) where endpoint_id = "
      "(select id from endpoint where host = 'dead.example')");
  Sql("analyze delivery");
  const double beside = entries_read();
  EXPECT_LT(beside, alone + 100);
  EXPECT_EQ(store::ReadGauges(session).deliveries_pending, 100'000) << "counted up to that";
}

// The neighbour's receiver is the newest, and ids go by time.
TEST_F(DeliveryTest, G10_AClaimBesideHundredsOfAnothersHangingReceiversTakesANeighboursDelivery) {
  const auto neighbour = NewOrganisation(0);
  NewMonitor({.webhook_url = "http://hangs.example"});
  NewMonitor({.org = neighbour, .webhook_url = "http://new.example"});
  Sql("insert into endpoint (id, org_id, scheme, host, port) select gen_random_uuid(), org_id, "
      "scheme, n || host, port from endpoint, generate_series(2, 320) n where host = "
      "'hangs.example'");
  Sql("insert into monitor select (jsonb_populate_record(m, jsonb_build_object('id', "
      "gen_random_uuid(), 'endpoint_id', e.id))).* from monitor m join endpoint e using (org_id) "
      "where e.host like '_%hangs.example' and e.id <> m.endpoint_id");
  Sql("with e as (insert into endpoint (id, org_id, scheme, host, port) select "
      "'ffffffff-ffff-ffff-ffff-ffffffffffff', org_id, scheme, 'newest.example', port from "
      "endpoint "
      "where host = 'new.example' returning id, org_id) update monitor m set endpoint_id = e.id "
      "from e where m.org_id = e.org_id");
  Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), org_id, endpoint_id, id, gen_random_uuid(), "
      "gen_random_uuid(), 0, now() from monitor");
  ASSERT_EQ(Sql("select count(*) from delivery"), "321");

  auto room = Limits(2);
  room.slow_held = base::FairShares<base::Uuid>(256, 0.1);
  const auto claim = [&](const base::Uuid& cursor) {
    return store::ClaimDeliveries(session, cursor, base::Uuid::V4(), room, {}, {});
  };
  const auto of_neighbour = [&](const store::DeliveryClaim& c) {
    return std::count_if(
        c.deliveries.begin(), c.deliveries.end(),
        [&](const store::LeasedDelivery& d) { return d.notification.org_id == neighbour; });
  };

  room.endpoints_max = 400;
  const auto first = claim({});
  EXPECT_EQ(of_neighbour(first), 1) << "in the first claim that meets it";
  EXPECT_GT(first.deliveries.size(), 100U);
  EXPECT_GT(first.passed_over.size(), 100U) << "the other's share is used up";

  Sql("update delivery set available_at = now(), lease_token = null");
  room.endpoints_max = 200;
  // What it holds already, all of it hanging.
  room.slow_held.Take(org, 230);
  room.slow_in_flight.Take(org, 90);
  const auto second = claim(claim({}).next_cursor);
  EXPECT_EQ(of_neighbour(second), 1) << "and where endpoints are visited by halves, in the second";
  EXPECT_EQ(second.deliveries.size(), 1U);
  EXPECT_TRUE(second.next_cursor.is_nil());
}

TEST_F(DeliveryTest, G2_ADeliveryWhoseReceiverWasForgottenGoesToTheMonitorsPresentOne) {
  Commit("a.example");
  Sql("update delivery set endpoint_id = gen_random_uuid()");
  EXPECT_TRUE(Claim().deliveries.empty()) << "it moves first";
  EXPECT_EQ(Claim().deliveries.size(), 1U);
}

TEST_F(DeliveryTest, AReceiverFailsWhenEveryAttemptDidForFortyEightHours) {
  Commit("a.example");
  const auto fail = [&] {
    Sql("update delivery set available_at = now(), lease_token = null");
    Sql("update endpoint set available_at = now()");
    const auto claim = Claim();
    ASSERT_EQ(claim.deliveries.size(), 1U);
    Settle(Attempt(claim.deliveries[0], AttemptEnd::kRetry));
  };
  const auto pass = [&](const char* hours) {
    Sql(
        fmt::format("update endpoint set failing_since = failing_since - interval '{0}', failed_at "
                    "= failed_at - interval '{0}'",
                    hours));
  };
  const std::string shown = "select webhook_failing from monitor_shown";
  fail();
  EXPECT_EQ(Sql(shown), "f");
  pass("49 hours");
  EXPECT_EQ(Sql(shown), "f") << "one failure long ago says nothing about since";
  fail();
  EXPECT_EQ(Sql(shown), "t");
  EXPECT_EQ(store::ReadGauges(session).receivers_failing, 1);
  Sql("update organisation set lives_at = 'c3'");
  EXPECT_EQ(store::ReadGauges(session).receivers_failing, 0) << "it is told there";
  Sql("update organisation set lives_at = null");
  EXPECT_EQ(Sql("select status from monitor"), "2") << "nothing is switched off";
  Sql("update delivery set available_at = now(), lease_token = null");
  Sql("update endpoint set available_at = now()");
  Settle(Attempt(Claim().deliveries.at(0), AttemptEnd::kDelivered));
  EXPECT_EQ(Sql(shown), "f");
  EXPECT_EQ(store::ReadGauges(session).receivers_failing, 0);
}

TEST_F(DeliveryTest, G3_AReplayKeepsTheDedupPairAndBeginsTheScheduleAnew) {
  const auto id = Commit("a.example");
  const auto first = Claim().deliveries.at(0);
  auto dead = Attempt(first, AttemptEnd::kDead);
  dead.attempt = 30;
  Settle(dead);
  Sql("update delivery set created_at = now() - interval '73 hours'");
  EXPECT_EQ(store::ReplayDelivery(session, clock, id, {.actor = "t", .action = "delivery.replay"}),
            store::ReplayOutcome::kDone);
  const auto again = Claim().deliveries.at(0);
  EXPECT_EQ(again.notification.event_group_id, first.notification.event_group_id);
  EXPECT_EQ(again.notification.type, first.notification.type);
  EXPECT_EQ(again.attempts, 30) << "the numbering goes on";
  EXPECT_EQ(again.schedule_attempts, 0);
  EXPECT_LT(clock.Now() - again.counted_from, std::chrono::minutes(1));
}

TEST_F(DeliveryTest, ACallbackOfAJobIsClaimedBesideNotificationsAndKeptInHistoryWithItsJob) {
  Commit("a.example");
  auto job = NewLookup(org, clock);
  job.webhook = store::Webhook{"http://a.example/jobs", {"http", "a.example", 80}};
  store::StartJob(session, clock, job, {100});
  store::EndJob(session, clock, {}, job.id, {domain::JobStatus::kTimedOut, {}, {}});
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 2U);
  const auto callback = std::find_if(
      claim.deliveries.begin(), claim.deliveries.end(), [](const store::LeasedDelivery& d) {
        return std::holds_alternative<domain::JobNotice>(d.notification.about);
      });
  ASSERT_NE(callback, claim.deliveries.end());
  const domain::Notification& n = callback->notification;
  EXPECT_EQ(std::get<domain::JobNotice>(n.about).job_id, job.id);
  EXPECT_EQ(std::get<domain::JobNotice>(n.about).status, domain::JobStatus::kTimedOut);
  EXPECT_EQ(n.url, "http://a.example/jobs");
  EXPECT_EQ(n.event_group_id, domain::JobEventId(job.id, job.kind));
  Settle(Attempt(*callback, AttemptEnd::kDelivered));
  EXPECT_EQ(Sql("select (monitor_id is null) || ' ' || job_id || ' ' || job_status from "
                "delivery_attempt"),
            "true " + job.id.ToString() + " 6");
}

class SendNowTest : public DeliveryTest {
 public:
  store::SendNowOutcome SendNow(const base::Uuid& id) {
    return store::SendDeliveryNow(session, clock, id, {.actor = "t", .action = "delivery.send"});
  }
  void Settle(AttemptEnd end) {
    const auto claim = Claim();
    ASSERT_EQ(claim.deliveries.size(), 1U);
    auto attempt = Attempt(claim.deliveries[0], end);
    attempt.retry_in = std::chrono::hours(4);
    store::SettleAttempts(session, {attempt}, false, 1, std::chrono::hours(1));
  }
};

TEST_F(SendNowTest, APendingOneIsTriedNowWhateverItsScheduleAndItsBreakerSay) {
  const auto id = Commit("a.example");
  Settle(AttemptEnd::kRetry);
  EXPECT_TRUE(Claim().deliveries.empty()) << "it is due in 4 hours, and its breaker is open";
  EXPECT_EQ(SendNow(id), store::SendNowOutcome::kHastened);
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  EXPECT_EQ(claim.deliveries[0].attempts, 1) << "its schedule goes on";
  EXPECT_EQ(SendNow(id), store::SendNowOutcome::kBeingSent);
}

TEST_F(SendNowTest, ADeliveredOneIsSentAgainWithTheSamePair_G3) {
  const auto id = Commit("a.example");
  const auto first = Claim();
  ASSERT_EQ(first.deliveries.size(), 1U);
  store::SettleAttempts(session, {Attempt(first.deliveries[0], AttemptEnd::kDelivered)}, false, 3,
                        std::chrono::seconds(30));
  EXPECT_EQ(SendNow(id), store::SendNowOutcome::kResent);
  const auto again = Claim();
  ASSERT_EQ(again.deliveries.size(), 1U);
  const auto& a = first.deliveries[0].notification;
  const auto& b = again.deliveries[0].notification;
  EXPECT_EQ(b.delivery_id, id);
  EXPECT_EQ(b.event_group_id, a.event_group_id);
  EXPECT_EQ(b.type, a.type);
  EXPECT_EQ(domain::NotificationBody(b), domain::NotificationBody(a));
  EXPECT_EQ(again.deliveries[0].attempts, 1);
  EXPECT_EQ(again.deliveries[0].schedule_attempts, 0);
  auto attempt = Attempt(again.deliveries[0], AttemptEnd::kDelivered);
  store::SettleAttempts(session, {attempt}, false, 3, std::chrono::seconds(30));
  store::DeliveryQuery query;
  query.state = domain::DeliveryState::kDelivered;
  query.limit = 10;
  const auto listed = store::ListDeliveries(session, query);
  ASSERT_EQ(listed.size(), 1U) << "delivered twice, listed once";
  EXPECT_EQ(listed[0].attempts, 2);
}

TEST_F(SendNowTest, ADeadOneIsReplayedAndAnUnknownOneIsNotFound) {
  const auto id = Commit("a.example");
  Settle(AttemptEnd::kDead);
  EXPECT_EQ(SendNow(id), store::SendNowOutcome::kReplayed);
  EXPECT_EQ(SendNow(base::Uuid::V4()), store::SendNowOutcome::kNotFound);
}

TEST_F(SendNowTest, ADeliveredOneWhoseReceiverWasClearedGoesNowhere) {
  const auto id = Commit("a.example");
  Settle(AttemptEnd::kDelivered);
  Sql("update monitor set webhook_url = null, endpoint_id = null");
  EXPECT_EQ(SendNow(id), store::SendNowOutcome::kNoReceiver);
  EXPECT_FALSE(store::ReadDelivery(session, id)->request);
}

TEST_F(SendNowTest, ADeliveryShowsItsRequestAsItIsSent) {
  const auto id = Commit("a.example/hook");
  const auto shown = store::ReadDelivery(session, id);
  ASSERT_TRUE(shown && shown->request);
  EXPECT_EQ(shown->request->url, "http://a.example/hook");
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  const auto& n = claim.deliveries[0].notification;
  EXPECT_EQ(shown->request->body, domain::NotificationBody(n));
  EXPECT_EQ(shown->request->headers, domain::NotificationHeaders(n, 1));
}

TEST_F(SendNowTest, BreakersThatTurnAreTold) {
  const auto id = Commit("a.example");
  const auto settle = [this](AttemptEnd end) {
    return store::SettleAttempts(session, {Attempt(Claim().deliveries.at(0), end)}, false, 2,
                                 std::chrono::seconds(30));
  };
  EXPECT_TRUE(settle(AttemptEnd::kRetry).empty());
  SendNow(id);
  const auto opened = settle(AttemptEnd::kRetry);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_TRUE(opened[0].opened);
  EXPECT_EQ(opened[0].receiver, "http://a.example:80");
  EXPECT_EQ(opened[0].org_id, org);
  SendNow(id);
  const auto closed = settle(AttemptEnd::kDelivered);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_FALSE(closed[0].opened);
}

}  // namespace
}  // namespace vedette::test
