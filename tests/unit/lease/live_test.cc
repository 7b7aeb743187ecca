#include "lease/live.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace vedette::lease {
namespace {

TEST(Live, ACallbackReachesItsObjectWhileItLives) {
  auto live = std::make_unique<Live>();
  int calls = 0;
  const std::function<int(int)> twice = live->Guard([&](int n) {
    ++calls;
    return 2 * n;
  });
  EXPECT_EQ(twice(4), 8);
  live.reset();
  EXPECT_EQ(twice(4), 0) << "a result of its type, and no call";
  EXPECT_EQ(calls, 1);
}

TEST(Live, ACallbackThatGivesNothingEndsWithItsObjectToo) {
  auto live = std::make_unique<Live>();
  int calls = 0;
  const std::function<void()> count = live->Guard([&] { ++calls; });
  const std::function<void()> copy = count;
  count();
  copy();
  live.reset();
  count();
  copy();
  EXPECT_EQ(calls, 2);
}

TEST(Live, AnObjectMayEndInItsOwnCallback) {
  auto live = std::make_unique<Live>();
  const std::function<void()> end = live->Guard([&] { live.reset(); });
  end();
  EXPECT_EQ(live, nullptr);
  end();
}

}  // namespace
}  // namespace vedette::lease
