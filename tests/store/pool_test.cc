// Whose turn it is, and what becomes of jobs while connections are missing (G10, G12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <pqxx/pqxx>
#include <thread>

#include "base/log.h"
#include "config/database_config.h"
#include "metrics/metrics.h"
#include "store/migrate.h"
#include "store/session.h"
#include "tests/support/test_database.h"

namespace vedette::test {
namespace {

using base::Uuid;
using store::Session;

constexpr std::chrono::seconds kPatience(60);

class PoolTest : public testing::Test {
 public:
  std::unique_ptr<store::Pool> NewPool(const config::DatabaseConfig& db, int connections) {
    return std::make_unique<store::Pool>(db, store::SessionOptions{.name = "test"}, connections,
                                         clock, metrics, log);
  }

  void Sql(const std::string& statement) const {
    pqxx::connection connection(database.url());
    pqxx::nontransaction work(connection);
    work.exec(statement);
  }

  // Whether the database answers the session.
  static bool Reads(Session& session) {
    try {
      return store::CheckSchema(session) == store::SchemaState::kCurrent;
    } catch (const store::Unavailable&) {
      return false;
    }
  }

  TestDatabase database;
  config::DatabaseConfig config = database.config();
  base::SystemClock clock;
  base::Logger log{base::LogLevel::kOff, base::LogFormat::kText};
  metrics::Metrics metrics{"test"};
};

// Jobs that stay until it opens.
class Gate {
 public:
  ~Gate() { Open(); }
  void Pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait_for(lock, kPatience, [this] { return open_; });
    --inside_;
  }
  bool AwaitInside(int n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return inside_ >= n; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int inside_ = 0;
};

TEST_F(PoolTest, G10_OneKeysBacklogLeavesAThreadForAnother) {
  const Uuid busy = Uuid::V4();
  const Uuid other = Uuid::V4();
  Gate gate;
  auto pool = NewPool(config, 4);
  std::atomic<int> ended{0};
  for (int i = 0; i < 24; ++i) {
    ASSERT_TRUE(pool->Post(busy, [&](Session&) {
      gate.Pass();
      ++ended;
    }));
  }
  ASSERT_TRUE(gate.AwaitInside(3));
  for (int i = 0; i < 20; ++i) {
    std::promise<void> done;
    ASSERT_TRUE(pool->Post(other, [&](Session&) { done.set_value(); }));
    ASSERT_EQ(done.get_future().wait_for(kPatience), std::future_status::ready);
  }
  EXPECT_EQ(ended, 0);
  gate.Open();
  pool->Stop();
  EXPECT_EQ(ended, 24);
}

TEST_F(PoolTest, G10_KeysTakeTurns) {
  Gate gate;
  auto pool = NewPool(config, 1);
  ASSERT_TRUE(pool->Post([&](Session&) { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitInside(1));
  std::string order;
  for (const char name : std::string("aaaab")) {
    Uuid key;
    key.bytes[0] = static_cast<std::uint8_t>(name);
    ASSERT_TRUE(pool->Post(key, [&order, name](Session&) { order += name; }));
  }
  gate.Open();
  pool->Stop();
  EXPECT_EQ(order, "abaaa");
}

// Else three organisations with counts of seconds make a fourth's wait for the second of each.
TEST_F(PoolTest, G10_WhoHasUsedTheThreadsGoesBehindWhoHasNot) {
  Gate gate;
  const store::SessionOptions options{.name = "test", .turns_by_time = true};
  store::Pool pool(config, options, 1, clock, metrics, log);
  const auto key_of = [](char name) {
    Uuid key;
    key.bytes[0] = static_cast<std::uint8_t>(name);
    return key;
  };
  ASSERT_TRUE(pool.Post(key_of('a'), [&](Session&) { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitInside(1));
  std::string order;
  for (const char name : std::string("aab")) {
    ASSERT_TRUE(pool.Post(key_of(name), [&order, name](Session&) { order += name; }));
  }
  gate.Open();
  pool.Stop();
  EXPECT_EQ(order, "baa");
}

TEST_F(PoolTest, G10_AFullQueueOfOneKeyRefusesThatKeyAlone) {
  const Uuid busy = Uuid::V4();
  config.queue_max = 20;
  Gate gate;
  auto pool = NewPool(config, 1);
  int taken = 0;
  while (pool->Post(busy, [&](Session&) { gate.Pass(); })) ++taken;
  EXPECT_GE(taken, 10);
  EXPECT_LE(taken, 20);
  EXPECT_TRUE(pool->Post(Uuid::V4(), [](Session&) {}));
  gate.Open();
}

TEST_F(PoolTest, G12_AThreadWithoutAConnectionTakesNoJobs) {
  constexpr int kThreads = 4;
  Sql("drop role if exists limited");
  Sql("create role limited login connection limit " + std::to_string(kThreads - 1));
  Sql("grant usage on schema public to limited");
  Sql("grant select on all tables in schema public to limited");
  config.url.replace(config.url.find("vedette@"), 7, "limited");
  auto pool = NewPool(config, kThreads);
  std::atomic<int> failed{0};
  // More at once than there are connections, so that every thread is wanted.
  for (int round = 0; round < 20; ++round) {
    std::vector<std::future<void>> done;
    for (int i = 0; i < 3 * kThreads; ++i) {
      auto ended = std::make_shared<std::promise<void>>();
      done.push_back(ended->get_future());
      ASSERT_TRUE(pool->Post([&failed, ended](Session& session) {
        if (!Reads(session)) ++failed;
        ended->set_value();
      }));
    }
    for (auto& one : done) ASSERT_EQ(one.wait_for(kPatience), std::future_status::ready);
  }
  EXPECT_EQ(failed, 0);
  pool->Stop();
  Sql("drop owned by limited; drop role limited");
}

TEST_F(PoolTest, G12_JobsFailAtOnceWhereNoThreadHasAConnection) {
  config.url = "postgresql://127.0.0.1:1/none";
  config.reconnect_first_ms = config.reconnect_max_ms = std::chrono::milliseconds(100000);
  auto pool = NewPool(config, 4);
  std::atomic<int> failed{0};
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool->Post([&failed](Session& session) {
      if (!Reads(session)) ++failed;
    }));
  }
  pool->Stop();
  EXPECT_EQ(failed, 20);
}

TEST_F(PoolTest, G12_ConnectionsThatDiedIdleCostNobodyAnything) {
  constexpr int kThreads = 4;
  auto pool = NewPool(config, kThreads);
  Gate gate;
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(pool->Post([&](Session& session) {
      EXPECT_TRUE(Reads(session));
      gate.Pass();
    }));
  }
  ASSERT_TRUE(gate.AwaitInside(kThreads));
  gate.Open();
  Sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vedette "
      "test'");
  std::atomic<int> failed{0};
  for (int i = 0; i < 20; ++i) {
    std::promise<void> done;
    ASSERT_TRUE(pool->Post([&](Session& session) {
      if (!Reads(session)) ++failed;
      done.set_value();
    }));
    ASSERT_EQ(done.get_future().wait_for(kPatience), std::future_status::ready);
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace vedette::test
