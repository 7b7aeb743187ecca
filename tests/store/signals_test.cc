#include "store/signals.h"
#include "config/database_config.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tests/support/test_database.h"

namespace vedette::test {
namespace {

class Counter {
 public:
  void Add() {
    std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool WaitFor(int count, std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class SignalsTest : public testing::Test {
 public:
  // Shorter than the 10 s after which a quiet connection is looked at anyway.
  static constexpr std::chrono::seconds kSoon{8};

  TestDatabase database;
  config::DatabaseConfig config = database.config();
  base::SystemClock clock;
  metrics::Metrics metrics{"test"};
  base::Logger log{base::LogLevel::kError, base::LogFormat::kText};
};

TEST_F(SignalsTest, ASignalReachesItsOwnProcessAtOnce) {
  Counter heard;
  store::Signals signals(config, clock, metrics, log);
  signals.Listen(store::Signal::kDue, [&] { heard.Add(); });
  signals.Start();
  ASSERT_TRUE(heard.WaitFor(1, std::chrono::seconds(30))) << "the one of every connection";
  signals.Raise(store::Signal::kDue);
  EXPECT_TRUE(heard.WaitFor(2, kSoon));
}

// What the database brings back to the raiser would have its listener look a second time.
TEST_F(SignalsTest, ARaiseTellsItsOwnListenerBeforeItReturnsAndOnce) {
  Counter own;
  Counter others_due;
  Counter others_chunk;
  store::Signals raiser(config, clock, metrics, log);
  raiser.Listen(store::Signal::kDue, [&] { own.Add(); });
  store::Signals other(config, clock, metrics, log);
  other.Listen(store::Signal::kDue, [&] { others_due.Add(); });
  other.Listen(store::Signal::kChunk, [&] { others_chunk.Add(); });
  raiser.Raise(store::Signal::kDue);
  EXPECT_EQ(own.count(), 0) << "nobody listens before Start";
  other.Start();
  ASSERT_TRUE(others_due.WaitFor(1, std::chrono::seconds(30)));
  ASSERT_TRUE(others_chunk.WaitFor(1, std::chrono::seconds(30)));
  raiser.Start();
  ASSERT_TRUE(own.WaitFor(1, std::chrono::seconds(30))) << "the one of every connection";
  ASSERT_TRUE(others_due.WaitFor(2, kSoon)) << "what was raised before is sent";
  raiser.Raise(store::Signal::kDue);
  EXPECT_EQ(own.count(), 2);
  ASSERT_TRUE(others_due.WaitFor(3, kSoon));
  raiser.Raise(store::Signal::kChunk);  // behind it whatever came of the first one is there
  ASSERT_TRUE(others_chunk.WaitFor(2, kSoon));
  EXPECT_EQ(own.count(), 2);
  raiser.Stop();
  raiser.Raise(store::Signal::kDue);
  EXPECT_EQ(own.count(), 2) << "nor after Stop";
}

TEST_F(SignalsTest, WhatIsRaisedWhileANotificationWaitsIsToldBehindIt) {
  Counter heard;
  store::Signals signals(config, clock, metrics, log);
  signals.Listen(store::Signal::kDue, [&] { heard.Add(); });
  signals.Start();
  ASSERT_TRUE(heard.WaitFor(1, std::chrono::seconds(30)));
  for (int i = 0; i < 1000; ++i) {
    const int before = heard.count();
    signals.Raise(store::Signal::kDue);
    if (heard.count() > before) continue;
    EXPECT_TRUE(heard.WaitFor(before + 1, kSoon)) << "raised, and never told";
    return;
  }
  FAIL() << "a thousand in a row were told at once: nothing is coalesced";
}

TEST_F(SignalsTest, ItsOwnListenerIsToldBeforeOthersAre) {
  Counter own;
  Counter others;
  store::Signals raiser(config, clock, metrics, log);
  raiser.Listen(store::Signal::kDue, [&] { own.Add(); });
  store::Signals other(config, clock, metrics, log);
  other.Listen(store::Signal::kDue, [&] { others.Add(); });
  other.Start();
  ASSERT_TRUE(others.WaitFor(1, std::chrono::seconds(30)));
  raiser.Start();
  ASSERT_TRUE(own.WaitFor(1, std::chrono::seconds(30)));
  // Each, from the second one on, is raised less than 20 ms after one was sent, and is sent later.
  for (int i = 2; i <= 20; ++i) {
    raiser.Raise(store::Signal::kDue);
    ASSERT_TRUE(others.WaitFor(i, kSoon)) << i;
    EXPECT_GE(own.count(), i) << "others knew of it first";
  }
}

// They would claim what the raiser's own process is claiming.
TEST_F(SignalsTest, OthersAreToldOfWhatOneProcessTakesFiveMillisecondsLater) {
  Counter own;
  Counter others;
  store::Signals raiser(config, clock, metrics, log);
  raiser.Listen(store::Signal::kChunk, [&] { own.Add(); });
  store::Signals other(config, clock, metrics, log);
  other.Listen(store::Signal::kChunk, [&] { others.Add(); });
  other.Start();
  ASSERT_TRUE(others.WaitFor(1, std::chrono::seconds(30)));
  raiser.Start();
  ASSERT_TRUE(own.WaitFor(1, std::chrono::seconds(30)));
  const auto raised_at = clock.SinceBoot();
  raiser.Raise(store::Signal::kChunk);
  ASSERT_TRUE(others.WaitFor(2, kSoon));
  EXPECT_GE(clock.SinceBoot() - raised_at, std::chrono::milliseconds(5));
}

TEST_F(SignalsTest, ASignalReachesOtherProcessesAndOnlyItsListeners) {
  Counter due;
  Counter chunk;
  store::Signals listener(config, clock, metrics, log);
  listener.Listen(store::Signal::kDue, [&] { due.Add(); });
  listener.Listen(store::Signal::kChunk, [&] { chunk.Add(); });
  listener.Start();
  ASSERT_TRUE(due.WaitFor(1, std::chrono::seconds(30)));
  ASSERT_TRUE(chunk.WaitFor(1, std::chrono::seconds(30)));
  store::Signals raiser(config, clock, metrics, log);
  raiser.Start();
  raiser.Raise(store::Signal::kChunk);
  EXPECT_TRUE(chunk.WaitFor(2, kSoon));
  EXPECT_EQ(due.count(), 1);
}

TEST_F(SignalsTest, G12_AListenerIsToldAfterEveryReconnection) {
  Counter heard;
  store::Signals signals(config, clock, metrics, log);
  signals.Listen(store::Signal::kDue, [&] { heard.Add(); });
  signals.Start();
  ASSERT_TRUE(heard.WaitFor(1, std::chrono::seconds(30)));
  TestDatabase::CrashServer();
  TestDatabase::StartServer();
  EXPECT_TRUE(heard.WaitFor(2, std::chrono::seconds(60)));
}

}  // namespace
}  // namespace vedette::test
