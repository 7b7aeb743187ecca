#include <gtest/gtest.h>

#include <string>

#include "base/event_loop.h"
#include "scheduler/scheduler.h"
#include "store/fleet.h"
#include "tests/store/worker_support.h"

// What a fleet does for itself: retention, and schedulers that nobody wakes.
namespace vedette::test {
namespace {

class MaintenanceTest : public WorkerTest {};

TEST_F(MaintenanceTest, RetentionDropsWholePartitionsAndKeepsWhatIsYounger) {
  const auto monitor = NewMonitor({}).ToString();
  for (const char* age : {"1 day", "80 days", "400 days"}) {
    Sql(std::string("select ensure_partitions(now() - interval '") + age + "', 0)");
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
    EXPECT_FALSE(store::Maintain(session, settings.retention)) << "one at a time";
  }
  EXPECT_TRUE(store::Maintain(session, settings.retention));
  EXPECT_EQ(Sql("select count(*) from tick"), "2") << "90 days are kept";
  EXPECT_EQ(Sql(old_ones), "0");
}

TEST_F(MaintenanceTest, ASchedulerThatNobodyWakesFindsWhatIsDueByPolling) {
  settings.scheduler.poll_ms = std::chrono::milliseconds(50);
  base::EventLoop loop;
  store::Pool pool(settings.database, {.name = "scheduler"}, 1, clock, metrics,
                   base::Logger(base::LogLevel::kOff, base::LogFormat::kText));
  scheduler::Scheduler scheduler(loop, pool, signals, clock, metrics, settings,
                                 base::Logger(base::LogLevel::kOff, base::LogFormat::kText));
  loop.Post([&] { scheduler.Start(); });
  std::thread thread([&] { loop.Run(); });
  // `signals` has no connection: nothing is heard and nothing said.
  NewMonitor({});
  Eventually("select count(*) from chunk", "1");
  NewMonitor({});
  Eventually("select count(*) from chunk", "2");
  std::promise<void> drained;
  loop.Post([&] { scheduler.Drain([&] { drained.set_value(); }); });
  drained.get_future().get();
  loop.Stop();
  thread.join();
}

}  // namespace
}  // namespace vedette::test
