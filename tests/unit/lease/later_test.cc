#include "lease/later.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"

namespace vedette::lease {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Later, GivesItemsInTheOrderOfTheirTimesAndOneMayAddAnother) {
  const base::SystemClock clock;
  base::EventLoop loop;
  std::vector<std::string> order;
  std::unique_ptr<Later<std::string>> later;
  later = std::make_unique<Later<std::string>>(loop, clock, [&](const std::string& item) {
    order.push_back(item);
    if (item == "first") later->Add("added", milliseconds(0));
    if (order.size() == 4) loop.Stop();
  });
  later->Add("last", milliseconds(30));
  later->Add("second", microseconds(1500));
  later->Add("first", milliseconds(0));
  loop.Run();
  EXPECT_EQ(order.front(), "first");
  EXPECT_EQ(order.back(), "last");
  EXPECT_TRUE(later->empty());
}

TEST(Later, WhatIsTakenOutIsNotGiven) {
  const base::SystemClock clock;
  base::EventLoop loop;
  std::vector<int> given;
  Later<int> later(loop, clock, [&](int item) {
    given.push_back(item);
    loop.Stop();
  });
  for (const int item : {1, 2, 3}) later.Add(item, milliseconds(item));
  EXPECT_EQ(later.TakeIf([](int item) { return item < 3; }), (std::vector{1, 2}));
  loop.Run();
  EXPECT_EQ(given, std::vector{3});
}

}  // namespace
}  // namespace vedette::lease
