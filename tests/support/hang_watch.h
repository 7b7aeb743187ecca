#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace vedette::test {

// Ends the process when one test runs for longer than `limit`: writes the name of the test and the
// stacks of all threads to standard error, then aborts. So what hangs is named, and costs `limit`
// instead of the whole time that ctest has for an executable. It says nothing about how long a test
// should take: the limit is many times what any test takes on a busy machine.
//
// A listener of GoogleTest's, which owns it. Not while a debugger is attached.
class HangWatch : public testing::EmptyTestEventListener {
 public:
  static constexpr std::chrono::seconds kLimit{300};

  explicit HangWatch(std::chrono::milliseconds limit = kLimit);
  ~HangWatch() override;

  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;

 private:
  void Watch();

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::string test_;  // the one that runs; empty between two
  std::chrono::steady_clock::time_point until_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace vedette::test
