#include "base/event_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.h"

namespace vedette::base {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(Alarm, FiresOnceAndNotBeforeItsTime) {
  const SystemClock clock;
  EventLoop loop;
  std::vector<nanoseconds> fired;
  Timer end(loop, [&] { loop.Stop(); });
  Alarm alarm(loop, [&] {
    fired.push_back(clock.SinceBoot());
    end.Start(milliseconds(5));
  });
  const auto began = clock.SinceBoot();
  alarm.Start(microseconds(1500));
  loop.Run();
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_GE(fired[0] - began, microseconds(1500));
}

TEST(Alarm, FiresAtOnceWhereItsTimeHasPassedAndStartsAgain) {
  EventLoop loop;
  int fired = 0;
  std::unique_ptr<Alarm> alarm;
  alarm = std::make_unique<Alarm>(loop, [&] {
    if (++fired == 3) return loop.Stop();
    alarm->Start(milliseconds(-1));
  });
  alarm->Start(nanoseconds(0));
  loop.Run();
  EXPECT_EQ(fired, 3);
}

TEST(Alarm, ALaterStartTakesThePlaceOfTheFirstAndItsEndMeansSilence) {
  EventLoop loop;
  int fired = 0;
  auto moved = std::make_unique<Alarm>(loop, [&] { ++fired; });
  auto ended = std::make_unique<Alarm>(loop, [&] { ++fired; });
  moved->Start(nanoseconds(0));
  moved->Start(std::chrono::hours(1));
  ended->Start(nanoseconds(0));
  ended.reset();
  Timer end(loop, [&] { loop.Stop(); });
  end.Start(milliseconds(5));
  loop.Run();
  EXPECT_EQ(fired, 0);
}

// Its own callback may be what ends it.
TEST(Alarm, MayBeDestroyedByItsCallbackAndOutliveItsLoop) {
  std::unique_ptr<Alarm> outlives;
  {
    EventLoop loop;
    std::unique_ptr<Alarm> alarm;
    alarm = std::make_unique<Alarm>(loop, [&] {
      alarm.reset();
      loop.Stop();
    });
    outlives = std::make_unique<Alarm>(loop, [] {});
    alarm->Start(nanoseconds(0));
    loop.Run();
  }
}

}  // namespace
}  // namespace vedette::base
