#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "store/session.h"
#include "tests/support/ids.h"

namespace vedette::lease {

// The threads of a test's pool.
inline constexpr int kPoolThreads = 4;

// How long a test waits for what must happen.
inline constexpr std::chrono::seconds kPatience{30};

using vedette::test::Id;

// Holds jobs on the pool until it is opened.
class Gate {
 public:
  ~Gate() { Open(); }
  void Pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// A loop with its thread, and a pool whose jobs use no session: there is no database.
class LeaseTest : public testing::Test {
 public:
  LeaseTest() : pool_(Nowhere(), {.name = "test"}, kPoolThreads, clock_, metrics_, log_) {
    thread_ = std::thread([this] { loop_.Run(); });
  }

  void TearDown() override {
    pool_.Stop();
    loop_.Stop();
    thread_.join();
  }

  // Runs `f` on the loop's thread and waits for it.
  void OnLoop(const std::function<void()>& f) {
    const auto done = std::make_shared<std::promise<void>>();
    loop_.Post([f, done] {
      f();
      done->set_value();
    });
    ASSERT_EQ(done->get_future().wait_for(kPatience), std::future_status::ready);
  }

  // Waits until `holds`, which is called on the loop's thread.
  void Until(const std::function<bool()>& holds, const char* what) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (bool held = false; !held;) {
      OnLoop([&] { held = holds(); });
      if (held) return;
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Ends the jobs that are under way, and lets the loop hear of them.
  void FinishJobs() {
    pool_.Stop();
    OnLoop([] {});
  }

  base::SystemClock clock_;
  base::Logger log_{base::LogLevel::kOff, base::LogFormat::kText};
  metrics::Metrics metrics_{"test"};
  base::EventLoop loop_;
  store::Pool pool_;

 private:
  static const config::DatabaseConfig& Nowhere();

  std::thread thread_;
};

}  // namespace vedette::lease
