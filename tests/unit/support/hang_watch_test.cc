#include "tests/support/hang_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace vedette::test {
namespace {

using namespace std::chrono_literals;

// The test that runs, as a listener is told of it.
const testing::TestInfo& ThisTest() {
  return *testing::UnitTest::GetInstance()->current_test_info();
}

TEST(HangWatchTest, ATestThatHangsIsNamedWithTheStacksOfItsThreadsAndEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HangWatch watch(50ms);
        watch.OnTestStart(ThisTest());
        for (;;) std::this_thread::sleep_for(1h);
      },
      "HangWatchTest.ATestThatHangs.* hangs: it has run for(.|\n)*thread "
      "[0-9]+\n.*unit_support(.|\n)*is ended here");
}

TEST(HangWatchTest, ATestThatEndsIsLeftAlone) {
  HangWatch watch(50ms);
  for (int i = 0; i < 3; ++i) {
    watch.OnTestStart(ThisTest());
    watch.OnTestEnd(ThisTest());
  }
  std::this_thread::sleep_for(200ms);  // the point: no test runs for longer than the limit
}

}  // namespace
}  // namespace vedette::test
