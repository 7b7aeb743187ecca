#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace vedette::base {
namespace {

TEST(ThreadPool, RunsJobsAtTheSameTimeOnItsThreads) {
  ThreadPool pool("test", 2, 10);
  std::latch both(3);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Post([&] { both.arrive_and_wait(); }));
  }
  both.arrive_and_wait();  // would wait for ever if one thread had to run both
}

TEST(ThreadPool, RefusesWhatItsQueueDoesNotHold) {
  std::promise<void> release;
  std::promise<void> started;
  ThreadPool pool("test", 1, 2);
  ASSERT_TRUE(pool.Post([&, released = release.get_future().share()] {
    started.set_value();
    released.wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.Post([] {}));
  EXPECT_TRUE(pool.Post([] {}));
  EXPECT_FALSE(pool.Post([] {}));
  std::promise<void> drained;
  release.set_value();
  while (!pool.Post([&] { drained.set_value(); })) std::this_thread::yield();
  drained.get_future().wait();
}

TEST(ThreadPool, FinishesWhatHasBegunAndDropsWhatWaits) {
  std::atomic<bool> begun_finished = false;
  std::atomic<bool> waiting_ran = false;
  const auto held = std::make_shared<int>();
  std::promise<void> started;
  std::promise<void> release;
  auto pool = std::make_unique<ThreadPool>("a name longer than the kernel takes", 1, 10);
  ASSERT_TRUE(pool->Post([&, released = release.get_future().share()] {
    started.set_value();
    released.wait();
    begun_finished = true;
  }));
  ASSERT_TRUE(pool->Post([&, held] { waiting_ran = true; }));
  started.get_future().wait();
  std::thread destroyer([&] { pool.reset(); });
  // The destructor drops what waits before it waits for what has begun.
  while (held.use_count() > 1) std::this_thread::yield();
  release.set_value();
  destroyer.join();
  EXPECT_TRUE(begun_finished);
  EXPECT_FALSE(waiting_ran);
}

}  // namespace
}  // namespace vedette::base
