#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>

namespace vedette::base {
namespace {

Uuid Key(std::uint8_t n) {
  Uuid key;
  key.bytes[0] = n;
  return key;
}

// A job that has begun and goes on until it is released.
class Held {
 public:
  std::function<void()> Job() {
    return [this, released = release_.get_future().share()] {
      started_.set_value();
      released.wait();
    };
  }
  void AwaitStart() { started_.get_future().wait(); }
  void Release() { release_.set_value(); }

 private:
  std::promise<void> started_;
  std::promise<void> release_;
};

TEST(ThreadPool, RunsJobsAtTheSameTimeOnItsThreads) {
  std::latch both(3);  // outlives the pool, whose threads may still be on their way out of it
  ThreadPool pool("test", {2, 2, 10});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Post(Key(1), [&] { both.arrive_and_wait(); }));
  }
  both.arrive_and_wait();  // would wait for ever if one thread had to run both
}

TEST(ThreadPool, G11RefusesWhatAKeysQueueDoesNotHoldAndNothingOfTheOthers) {
  Held held;
  ThreadPool pool("test", {1, 1, 2});
  ASSERT_TRUE(pool.Post(Key(1), held.Job()));
  held.AwaitStart();
  std::latch ran(3);
  EXPECT_TRUE(pool.Post(Key(1), [&] { ran.count_down(); }));
  EXPECT_TRUE(pool.Post(Key(1), [&] { ran.count_down(); }));
  EXPECT_FALSE(pool.Post(Key(1), [] {}));
  EXPECT_TRUE(pool.Post(Key(2), [&] { ran.count_down(); })) << "a neighbour's backlog";
  held.Release();
  ran.wait();
  EXPECT_TRUE(pool.Post(Key(1), [] {}));
}

TEST(ThreadPool, G10KeysTakeTurnsWhateverOneHasWaiting) {
  Held held;
  ThreadPool pool("test", {1, 1, 100});
  ASSERT_TRUE(pool.Post(Key(9), held.Job()));
  held.AwaitStart();
  std::string order;  // written by the pool's one thread
  std::latch ran(12);
  const auto note = [&](char c) {
    return [&, c] {
      order += c;
      ran.count_down();
    };
  };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.Post(Key(1), note('a')));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(pool.Post(Key(2), note('b')));
  held.Release();
  ran.wait();
  EXPECT_EQ(order, "ababaaaaaaaa");
}

TEST(ThreadPool, G10OneKeyNeverOccupiesEveryThread) {
  Held first;
  Held second;
  ThreadPool pool("test", {3, 2, 100});
  ASSERT_TRUE(pool.Post(Key(1), first.Job()));
  ASSERT_TRUE(pool.Post(Key(1), second.Job()));
  first.AwaitStart();
  second.AwaitStart();
  std::atomic<bool> third_began = false;
  std::promise<void> third_ended;
  ASSERT_TRUE(pool.Post(Key(1), [&] {
    third_began = true;
    third_ended.set_value();
  }));
  // Both of them behind the greedy key's third job, and one thread is theirs.
  for (int i = 0; i < 2; ++i) {
    std::promise<void> ran;
    ASSERT_TRUE(pool.Post(Key(2), [&] { ran.set_value(); }));
    ran.get_future().wait();
  }
  EXPECT_FALSE(third_began);
  first.Release();
  third_ended.get_future().wait();
  second.Release();
}

TEST(ThreadPool, FinishesWhatHasBegunAndDropsWhatWaits) {
  std::atomic<bool> begun_finished = false;
  std::atomic<bool> waiting_ran = false;
  const auto held = std::make_shared<int>();
  std::promise<void> started;
  std::promise<void> release;
  auto pool = std::make_unique<ThreadPool>("a name longer than the kernel takes",
                                           ThreadPool::Limits{1, 1, 10});
  ASSERT_TRUE(pool->Post(Key(1), [&, released = release.get_future().share()] {
    started.set_value();
    released.wait();
    begun_finished = true;
  }));
  ASSERT_TRUE(pool->Post(Key(1), [&, held] { waiting_ran = true; }));
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
