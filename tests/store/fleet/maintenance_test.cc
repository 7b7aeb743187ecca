#include <gtest/gtest.h>

#include <chrono>
#include <pqxx/pqxx>
#include <set>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/log.h"
#include "config/role_config.h"
#include "scheduler/scheduler.h"
#include "store/audit_chain.h"
#include "store/fleet/fleet.h"
#include "store/fleet/maintenance.h"
#include "store/sql.h"
#include "tests/store/support/worker_support.h"

// What a fleet does for itself: retention, and schedulers that nobody wakes.
namespace vedette::test {
namespace {

class MaintenanceTest : public WorkerTest {
 public:
  store::MaintenanceRun Maintain() { return store::Maintain(session, settings.retention, &state); }

  // The same as after a restore of an old backup, or a jump of the database's clock: time has come
  // to weeks that have no partitions.
  void LosePartitions() {
    for (const std::string& table : Partitions()) Sql("drop table " + table);
  }
  std::vector<std::string> Partitions() {
    pqxx::connection connection(database.url());
    pqxx::nontransaction look(connection);
    std::vector<std::string> names;
    for (const auto& row :
         look.exec("select relname from pg_class where relkind = 'r' and relname ~ "
                   "'^(tick|check_log|event|delivery_attempt)_[0-9]{8}$' order by 1")) {
      names.emplace_back(row[0].c_str());
    }
    return names;
  }
  // A finished tick of one row.
  void InsertTick(const std::string& at) {
    Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
        "slots, row_count, outcomes) select '" +
        base::Uuid::V4().ToString() + "', (extract(epoch from at) * 1000000)::bigint, '" +
        org.ToString() + "', 0, at, at, at, 1, 1, '\\x02' from (select " + at + " as at) t");
  }

  store::MaintenanceState state;
};

TEST_F(MaintenanceTest, HistoryOfAWeekWithoutAPartitionMovesIntoItWhenItIsMade) {
  const auto before = Partitions();
  LosePartitions();
  InsertTick("now()");
  InsertTick("now() + interval '15 days'");
  Sql("insert into delivery_attempt (delivery_id, attempt, org_id, monitor_id, row_id, "
      "event_group_id, type, created_at, attempted_at, delivered, duration_us) select "
      "gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
      "gen_random_uuid(), 0, now(), now(), true, 1 from generate_series(1, 1000)");
  EXPECT_EQ(Sql("select count(*) from only tick_default"), "2");
  const auto run = Maintain();
  EXPECT_TRUE(run.failures.empty())
      << run.failures[0].task << ": " << run.failures[0].failure.message;
  EXPECT_GE(Partitions().size(), before.size());
  EXPECT_EQ(Sql("select count(*) from only tick_default"), "0");
  EXPECT_EQ(Sql("select count(*) from tick"), "2");
  EXPECT_EQ(Sql("select count(*) from only delivery_attempt_default"), "0");
  EXPECT_EQ(Sql("select count(*) from delivery_attempt"), "1000");
}

TEST_F(MaintenanceTest, ATaskThatFailsStopsNoOtherAndIsNamed) {
  LosePartitions();
  Sql("drop function ensure_partition cascade");
  Sql("insert into audit (id, at, actor, action, target, remote_address) values "
      "(gen_random_uuid(), now() - interval '10 years', 'a', 'b', 'c', 'd')");
  Sql("insert into rate_window select gen_random_uuid(), now() - interval '1 day', 1");
  EXPECT_EQ(store::SealAudit(session), 1) << "what is not sealed is not deleted";
  const auto run = Maintain();
  ASSERT_EQ(run.failures.size(), 1U);
  EXPECT_EQ(run.failures[0].task, "partitions");
  EXPECT_EQ(Sql("select count(*) from audit"), "0");
  EXPECT_EQ(Sql("select count(*) from rate_window"), "0");
}

TEST_F(MaintenanceTest, MoreHistoryThanMayMoveAtOnceStaysAndItsRetentionHolds) {
  LosePartitions();
  Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
      "slots, row_count, outcomes) select gen_random_uuid(), "
      "(extract(epoch from now()) * 1000000)::bigint + n, gen_random_uuid(), 0, now(), now(), "
      "now(), 1, 1, '\\x02' from generate_series(1, " +
      std::to_string(store::kMovedRowsMax + 1) + ") n");
  InsertTick("now() - interval '400 days'");
  const auto run = Maintain();
  EXPECT_TRUE(run.failures.empty());
  EXPECT_EQ(state.weeks_left.size(), 1U) << "the coming weeks have their partitions";
  EXPECT_EQ(Sql("select count(*) from only tick_default"), std::to_string(store::kMovedRowsMax + 1))
      << "what is too old was deleted there";
}

TEST_F(MaintenanceTest, ARunOfAProcessThatIsToEndBeginsNothingMore) {
  Sql("insert into rate_window select gen_random_uuid(), now() - interval '1 day', 1");
  state.stopping = true;
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select count(*) from rate_window"), "1");
  state.stopping = false;
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select count(*) from rate_window"), "0");
}

TEST_F(MaintenanceTest, ReceiversThatNobodyNamesAreForgotten) {
  NewMonitor({.rows = 1, .webhook_url = "http://used.example"});
  NewMonitor({.rows = 1, .webhook_url = "http://left.example"});
  NewMonitor({.rows = 1, .webhook_url = "http://pending.example"});
  NewMonitor({.rows = 1, .webhook_url = "http://deleted.example"});
  Sql("update monitor set archived_at = now(), deleted_at = now() where webhook_url = "
      "'http://deleted.example'");
  Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), org_id, endpoint_id, id, id, id, 0, now() from "
      "monitor where webhook_url = 'http://pending.example'");
  Sql("update monitor set webhook_url = null, endpoint_id = null where webhook_url not in "
      "('http://used.example', 'http://deleted.example')");
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select string_agg(host, ' ' order by host) from endpoint"),
            "pending.example used.example");
}

TEST_F(MaintenanceTest, WhatADigestTellsIsKeptAsLongAsItMayBeReplayedAndWhatWaitsStays) {
  const std::string channel = "'" + base::Uuid::V4().ToString() + "'";
  Sql("insert into channel (id, org_id, name, kind, url, events) values (" + channel + ", '" +
      org.ToString() + "', 'n', 0, 'https://a.example', '{0}')");
  for (const std::string& of : {channel, std::string("gen_random_uuid()")}) {
    Sql("insert into digest_event (channel_id, monitor_id, row_id, event_group_id, type, "
        "created_at, digest_id) select " +
        of +
        ", d, d, d, 0, now() - days * interval '1 day', case when cut then d end "
        "from (select gen_random_uuid() as d, days, cut from unnest(array[36, 38]) days, "
        "unnest(array[false, true]) cut) n");
  }
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select count(*) from digest_event where channel_id = " + channel), "3")
      << "a week more than the 30 days of a delivery, which begin when it is cut";
  EXPECT_EQ(Sql("select count(*) from digest_event where channel_id <> " + channel), "2")
      << "nothing waits for a channel that is not there";
}

// A scheduler plans while there is nothing yet, and goes by that plan when a receiver is down.
TEST_F(MaintenanceTest, NothingThatIsPendingIsReadToForgetWhatIsDead) {
  Sql("analyze delivery");
  {
    store::Session own(config, {.name = "scheduler", .keyed_plans = true}, clock, metrics,
                       {base::LogLevel::kOff, base::LogFormat::kText});
    EXPECT_TRUE(store::Maintain(own, settings.retention, &state).failures.empty());
    Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
        "state, created_at, available_at) select id, id, id, id, id, id, 0, (n = 1)::int, now() - "
        "interval '1 year', now() from (select n, gen_random_uuid() as id from generate_series(1, "
        "5000) n) d");
    EXPECT_TRUE(store::Maintain(own, settings.retention, &state).failures.empty());
  }
  EXPECT_EQ(Sql("select count(*) from delivery"), "4999");
  // What the session did is told when it ends.
  Eventually("select idx_scan > 0 from pg_stat_user_indexes where indexrelname = 'delivery_dead'",
             "t");
  EXPECT_EQ(Sql("select sum(idx_tup_read) < 100 from pg_stat_user_indexes where relname = "
                "'delivery'"),
            "t");
}

TEST_F(MaintenanceTest, RetentionDropsWholePartitionsAndKeepsWhatIsYounger) {
  const auto monitor = NewMonitor({}).ToString();
  for (const char* age : {"1 day", "80 days", "400 days"}) {
    Sql("select count(*) filter (where ensure_partition(parent, date_trunc('week', (now() - "
        "interval '" +
        std::string(age) +
        "') at time zone 'UTC') at time zone 'UTC', 100000)) from "
        "unnest(array['tick', 'check_log', 'event', 'delivery_attempt']) parent");
    Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
        "slots, row_count, outcomes) select '" +
        monitor + "', extract(epoch from at)::bigint * 1000000, '" + org.ToString() +
        "', 0, at, at, at, 1, 1, '\\x02' from (select now() - interval '" + age + "' as at) t");
  }
  const std::string old_ones =
      "select count(*) from pg_class where relname ~ "
      "'^(tick|check_log|event|delivery_attempt)_[0-9]{8}$' "
      "and to_date(right(relname, 8), 'YYYYMMDD') < now() - interval '100 days'";
  EXPECT_EQ(Sql(old_ones), "4");
  pqxx::connection neighbour(database.url());
  {
    pqxx::work busy(neighbour);
    busy.exec("select pg_advisory_xact_lock(8386094145001)");
    EXPECT_FALSE(Maintain().mine) << "one at a time";
  }
  EXPECT_TRUE(Maintain().mine);
  EXPECT_EQ(Sql("select count(*) from tick"), "2") << "90 days are kept";
  EXPECT_EQ(Sql(old_ones), "0");
}

// A backup reads every table for as long as it takes, and what waits for a drop waits with it.
TEST_F(MaintenanceTest, G10_APartitionThatABackupReadsIsLeftAtOnceForALaterRun) {
  EXPECT_TRUE(Maintain().failures.empty());
  for (const char* table : {"tick", "event"}) {
    Sql(std::string("select ensure_partition('") + table +
        "', '2026-01-05 00:00:00+00'::timestamptz - interval '1400 days', 0)");
  }
  const std::string old_ones =
      "select string_agg(relname, ' ') from pg_class where relname ~ '^(tick|event)_2022[0-9]{4}$'";
  EXPECT_NE(Sql(old_ones), "");
  pqxx::connection neighbour(database.url());
  {
    pqxx::work backup(neighbour);
    backup.exec("lock table tick in access share mode");
    const auto began = clock.SinceBoot();
    EXPECT_TRUE(Maintain().failures.empty());
    EXPECT_LT(clock.SinceBoot() - began, std::chrono::seconds(2));
    EXPECT_EQ(Sql(old_ones), "tick_20220307");
    EXPECT_EQ(state.in_use, std::set<std::string>{"tick"});
  }
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql(old_ones), "");
  EXPECT_TRUE(state.in_use.empty());
}

TEST_F(MaintenanceTest, ADeletedMonitorIsErasedOnceItsHistoryIs) {
  const auto old = NewMonitor({.rows = 3}).ToString();
  const auto recent = NewMonitor({.rows = 3}).ToString();
  NewMonitor({.rows = 3});
  for (const auto& [id, age] : {std::pair(old, "400 days"), std::pair(recent, "1 day")}) {
    Sql("update monitor set status = 4, archived_at = now(), deleted_at = now() - interval '" +
        std::string(age) + "' where id = '" + id + "'");
  }
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select count(*) from monitor"), "2");
  EXPECT_EQ(Sql("select count(*) from monitor_sched"), "2");
  EXPECT_EQ(Sql("select count(*) from monitor_row"), "6");
  EXPECT_EQ(Sql("select count(*) from row_state"), "6");
  EXPECT_EQ(Sql("select count(*) from monitor where id = '" + old + "'"), "0");
}

TEST_F(MaintenanceTest, ExpiredTokensSessionsAndAssertionsAreForgottenAndNoOthers) {
  for (const char* expires_in : {"-1 second", "1 hour"}) {
    const std::string at = std::string("now() + interval '") + expires_in + "'";
    for (const char* kind : {"1, null", "2, 'ada'"}) {
      Sql("insert into access_token (token_sha256, id, org_id, principal_id, expires_at, kind, "
          "user_id) select sha256(gen_random_uuid()::text::bytea), gen_random_uuid(), '" +
          org.ToString() + "', gen_random_uuid(), " + at + ", " + kind);
    }
    Sql("insert into assertion_jti select gen_random_uuid(), "
        "sha256(gen_random_uuid()::text::bytea), " +
        at);
  }
  EXPECT_TRUE(Maintain().failures.empty());
  EXPECT_EQ(Sql("select count(*) from access_token"), "2");
  EXPECT_EQ(Sql("select count(*) from assertion_jti"), "1") << "it may still be sent again";
  EXPECT_EQ(Sql("select bool_and(expires_at > now()) from access_token"), "t");
}

// The times that docs/privacy.md and docs/email.md promise.
TEST_F(MaintenanceTest, WhatLookupsHaveLearntGoesWhenItsTimeIsOver) {
  const auto ago = [](const char* age) { return "now() - interval '" + std::string(age) + "'"; };
  const std::string of = "'" + org.ToString() + "'";
  for (const char* until : {"1 second", "-1 hour"}) {
    Sql("insert into email_fact (org_id, address, verdict, stated, provider, checked_at, until) "
        "values (" +
        of + ", gen_random_uuid()::text, 0, true, 'smtp', now(), " + ago(until) + ")");
  }
  for (const char* last : {"366 days", "364 days"}) {
    Sql("insert into domain_pattern values (" + of + ", gen_random_uuid()::text, 0, 1, 0, " +
        ago(last) + ")");
    Sql("insert into company_domain values (" + of +
        ", substr(sha256(gen_random_uuid()::text::bytea), 1, 16), 'acme.com', 1, " + ago(last) +
        ")");
  }
  for (const char* last : {"31 days", "29 days"}) {
    Sql("insert into mail_domain (domain, mx_kind, hosts, class, mx_at, control, control_at) "
        "values (gen_random_uuid()::text, 0, '{}', 0, " +
        ago(last) + ", 'c', now())");
    Sql("insert into mail_host values (gen_random_uuid()::text, 1, null, 1, '', " + ago(last) +
        ")");
  }
  for (const char* began : {"3 days", "1 day"}) {
    Sql("insert into mail_budget values (gen_random_uuid()::text, " + ago(began) + ", 1)");
  }
  EXPECT_TRUE(Maintain().failures.empty());
  for (const char* table : {"email_fact", "domain_pattern", "company_domain", "mail_domain",
                            "mail_host", "mail_budget"}) {
    EXPECT_EQ(Sql(std::string("select count(*) from ") + table), "1") << table;
  }
  EXPECT_EQ(Sql("select bool_and(until > now()) from email_fact"), "t");
}

TEST_F(MaintenanceTest, LiveTokensAndSessionsAreCountedApart) {
  const auto insert = [this](int kind, int n, const std::string& expires_in) {
    Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, user_id, "
        "expires_at) select sha256(gen_random_uuid()::text::bytea), gen_random_uuid(), " +
        std::to_string(kind) + ", '" + org.ToString() + "', gen_random_uuid(), " +
        (kind == 2 ? "'ada'" : "null") + ", now() + interval '" + expires_in +
        "' from generate_series(1, " + std::to_string(n) + ")");
  };
  insert(1, 3, "1 hour");
  insert(1, 5, "-1 second");
  insert(2, 2, "1 hour");
  const store::Gauges gauges = store::ReadGauges(session);
  EXPECT_EQ(gauges.client_tokens, 3);
  EXPECT_EQ(gauges.sessions, 2);
}

TEST_F(MaintenanceTest, DeliveriesThatAreDueAreCountedBesideThoseThatRest) {
  const auto insert = [this](int delivery_state, const std::string& due_in) {
    Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
        "state, available_at) select d, '" +
        org.ToString() + "', d, d, d, d, 0, " + std::to_string(delivery_state) +
        ", now() + interval '" + due_in + "' from (select gen_random_uuid() as d) one");
  };
  insert(0, "-1 hour");
  insert(0, "1 hour");
  insert(1, "-1 hour");
  const store::Gauges gauges = store::ReadGauges(session);
  EXPECT_EQ(gauges.deliveries_due, 1);
  EXPECT_EQ(gauges.deliveries_pending, 2);
  EXPECT_EQ(gauges.deliveries_dead, 1);
}

// A scheduler on a loop of its own, with what it counted; `signals` has no connection: nothing is
// heard and nothing said.
class LoneScheduler {
 public:
  explicit LoneScheduler(MaintenanceTest& test)
      : pool_(test.settings.database, {.name = "scheduler"}, 1, test.clock, test.metrics, kQuiet),
        scheduler_(loop_, pool_, test.signals, test.clock, test.metrics, test.settings, kQuiet) {
    loop_.Post([this] { scheduler_.Start(); });
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~LoneScheduler() {
    std::promise<void> drained;
    loop_.Post([&] { scheduler_.Drain([&] { drained.set_value(); }); });
    drained.get_future().get();
    loop_.Stop();
    thread_.join();
  }

 private:
  inline static const base::Logger kQuiet{base::LogLevel::kOff, base::LogFormat::kText};
  base::EventLoop loop_;
  store::Pool pool_;
  scheduler::Scheduler scheduler_;
  std::thread thread_;
};

TEST_F(MaintenanceTest, ASchedulerThatNobodyWakesFindsWhatIsDueByPolling) {
  settings.scheduler.poll_ms = std::chrono::milliseconds(50);
  const LoneScheduler scheduler(*this);
  NewMonitor({});
  Eventually("select count(*) from chunk", "1");
  NewMonitor({});
  Eventually("select count(*) from chunk", "2");
}

TEST_F(MaintenanceTest, MonitorsThatAreDueOneAfterTheOtherAreCutTogether) {
  for (int i = 0; i < 40; ++i) NewMonitor({.due = "now() + interval '1 hour'"});
  Sql("update monitor_sched s set next_run_at = now() + interval '300 ms' + u.n * interval '1 ms' "
      "from (select monitor_id, row_number() over () as n from monitor_sched) u "
      "where u.monitor_id = s.monitor_id returning 1");
  const LoneScheduler scheduler(*this);
  Eventually("select count(*) from open_tick", "40");
  EXPECT_LE(std::stoi(Sql("select count(*) from chunk")), 6) << "10 ms and more of them a chunk";
}

TEST_F(MaintenanceTest, ASchedulerLooksForPortionsAndEndsOnlyWhereALargeTickIsOpen) {
  const auto statements = [this](const std::string& query) {
    return Series("vedette_db_query_seconds_count{query=\"" + query + "\"}");
  };
  settings.scheduler.poll_ms = std::chrono::milliseconds(50);
  const LoneScheduler scheduler(*this);
  NewMonitor({});
  Eventually("select count(*) from chunk", "1");
  EXPECT_GE(statements("sched_due"), 1);
  EXPECT_EQ(statements("sched_due_portions") + statements("sched_closable"), 0);
  Sql("delete from chunk returning 1");
  NewMonitor({.rows = 300});
  Eventually("select count(*) from chunk", "2");
  Sql("delete from chunk returning 1");
  Eventually("select count(*) from tick where finished_at is not null and row_count = 300", "1");
}

TEST_F(MaintenanceTest, ASchedulerIsQuietWhileSomebodyHoldsWhatIsDue) {
  NewMonitor({});
  pqxx::connection connection(database.url());
  pqxx::work holder(connection);
  holder.exec("select from monitor_sched for update");
  const auto transactions = [this] {
    return std::stoi(
        Sql("select xact_commit from pg_stat_database where datname = "
            "current_database()"));
  };
  {
    const int before = transactions();
    const LoneScheduler scheduler(*this);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    // PostgreSQL counts what a session did once in a second.
    EXPECT_LT(transactions() - before, 300);
  }
  holder.commit();
  const LoneScheduler scheduler(*this);
  Eventually("select count(*) from chunk", "1");
}

}  // namespace
}  // namespace vedette::test
