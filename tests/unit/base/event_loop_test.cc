#include "base/event_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace vedette::base {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, RunsWhatIsPostedInOrderAlsoFromBeforeItRan) {
  EventLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.Post([&order, i] { order.push_back(i); });
  loop.Post([&] {
    loop.Post([&] {
      order.push_back(4);
      loop.Stop();
    });
    order.push_back(3);
  });
  loop.Run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

TEST(EventLoop, StopEndsRunAfterWhatWasPostedBefore) {
  EventLoop loop;
  bool ran = false;
  loop.Post([&] { ran = true; });
  loop.Stop();
  loop.Run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, RunsAgainAfterStop) {
  EventLoop loop;
  int runs = 0;
  for (int i = 0; i < 2; ++i) {
    loop.Post([&] { ++runs; });
    loop.Stop();
    loop.Run();
  }
  EXPECT_EQ(runs, 2);
}

TEST(EventLoop, TakesPostsFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  EventLoop loop;
  int count = 0;  // no lock: everything posted runs on one thread
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        loop.Post([&] {
          if (++count == kThreads * kEach) loop.Stop();
        });
      }
    });
  }
  loop.Run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kEach);
}

TEST(EventLoop, KnowsItsThread) {
  EventLoop loop;
  EXPECT_FALSE(loop.InLoopThread());
  bool inside = false;
  std::thread runner([&] { loop.Run(); });
  loop.Post([&] { inside = loop.InLoopThread(); });
  loop.Stop();
  runner.join();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(loop.InLoopThread());
}

TEST(EventLoop, DestroysWhatItDidNotRun) {
  const auto held = std::make_shared<int>();
  bool ran = false;
  {
    EventLoop loop;
    auto timer = std::make_shared<Timer>(loop, [] {});
    loop.Post([&ran, held, timer] { ran = true; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(EventLoop, TakesPostsFromWhatItDestroys) {
  struct PostsWhenDestroyed {
    EventLoop* loop;
    ~PostsWhenDestroyed() {
      loop->Post([] { FAIL(); });
    }
  };
  EventLoop loop;
  const auto object = std::make_shared<PostsWhenDestroyed>();
  object->loop = &loop;
  loop.Post([object] {});
}

TEST(Timer, FiresOnceWithoutRepeat) {
  EventLoop loop;
  int fired = 0;
  Timer timer(loop, [&] { ++fired; });
  Timer later(loop, [&] { loop.Stop(); });
  EXPECT_FALSE(timer.active());
  timer.Start(milliseconds(0));
  later.Start(milliseconds(20));
  EXPECT_TRUE(timer.active());
  loop.Run();
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.active());
}

TEST(Timer, RepeatsUntilItIsStopped) {
  EventLoop loop;
  int fired = 0;
  std::optional<Timer> timer;
  timer.emplace(loop, [&] {
    if (++fired == 3) {
      timer->Stop();
      loop.Stop();
    }
  });
  timer->Start(milliseconds(1), milliseconds(1));
  loop.Run();
  EXPECT_EQ(fired, 3);
  EXPECT_FALSE(timer->active());
}

TEST(Timer, WaitsForItsDelayFromNowOn) {
  EventLoop loop;
  const auto start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration waited{};
  Timer timer(loop, [&] {
    waited = std::chrono::steady_clock::now() - start;
    loop.Stop();
  });
  // The loop's own idea of the time is this old when the timer starts.
  std::this_thread::sleep_for(milliseconds(30));
  const auto started_after = std::chrono::steady_clock::now() - start;
  timer.Start(milliseconds(30));
  loop.Run();
  EXPECT_GE(waited, started_after + milliseconds(28));  // libuv counts whole milliseconds
}

TEST(Timer, DestroyedBeforeItFiresNeverFires) {
  EventLoop loop;
  bool fired = false;
  auto timer = std::make_unique<Timer>(loop, [&] { fired = true; });
  timer->Start(milliseconds(0));
  timer.reset();
  Timer later(loop, [&] { loop.Stop(); });
  later.Start(milliseconds(5));
  loop.Run();
  EXPECT_FALSE(fired);
}

TEST(Timer, MayDestroyItselfInItsCallback) {
  EventLoop loop;
  auto state = std::make_shared<int>(0);
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&timer, &loop, state] {
    timer.reset();
    ++*state;  // what the callback holds is still there
    loop.Stop();
  });
  timer->Start(milliseconds(0), milliseconds(1));
  loop.Run();
  EXPECT_EQ(*state, 1);
}

TEST(Timer, MayOutliveTheLoop) {
  auto loop = std::make_unique<EventLoop>();
  const auto timer = std::make_unique<Timer>(*loop, [] {});
  timer->Start(milliseconds(1000));
  loop.reset();
}

}  // namespace
}  // namespace vedette::base
