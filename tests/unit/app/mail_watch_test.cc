#include "app/mail_check.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "base/json.h"

namespace vedette::app {
namespace {

using std::chrono::milliseconds;

// What a test decides of examinations, and what it sees of them. Any thread.
class Clinic {
 public:
  explicit Clinic(std::vector<MailCheck> found) : found_(std::move(found)) {}

  std::unique_ptr<MailExamination> Begin() {
    std::lock_guard lock(mutex_);
    ++begun_;
    return std::make_unique<One>(*this);
  }
  void Find(std::vector<MailCheck> found) {
    std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }
  // Examinations last from now on until they are stopped.
  void Linger() {
    std::lock_guard lock(mutex_);
    lingers_ = true;
  }
  void WaitForBegun(int begun) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ >= begun; });
  }
  int begun() const {
    std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  class One final : public MailExamination {
   public:
    explicit One(Clinic& clinic) : clinic_(clinic) {}
    std::vector<MailCheck> Run() override {
      std::unique_lock lock(clinic_.mutex_);
      ++clinic_.running_;
      clinic_.changed_.notify_all();
      clinic_.changed_.wait(lock, [&] { return !clinic_.lingers_ || stopped_; });
      return clinic_.found_;
    }
    void Stop() override {
      std::lock_guard lock(clinic_.mutex_);
      stopped_ = true;
      clinic_.changed_.notify_all();
    }

   private:
    Clinic& clinic_;
    bool stopped_ = false;  // guarded by the clinic's mutex
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MailCheck> found_;
  int begun_ = 0;
  int running_ = 0;
  bool lingers_ = false;
};

class MailWatchTest : public testing::Test {
 public:
  std::unique_ptr<MailWatch> Watch(Clinic& clinic, milliseconds every = kMailWatchEvery) {
    return std::make_unique<MailWatch>(
        loop, metrics, log, [&clinic] { return clinic.Begin(); }, every);
  }
  // Runs the loop until `is_there` is true, looking again and again.
  void RunUntil(const std::function<bool()>& is_there) {
    base::Timer look(loop, [&] {
      if (is_there()) loop.Stop();
    });
    look.Start(milliseconds(1), milliseconds(1));
    loop.Run();
  }
  bool Shows(const std::string& line) const {
    return metrics.Expose().find(line) != std::string::npos;
  }

  base::EventLoop loop;
  metrics::Metrics metrics{"test"};
  base::Logger log{base::LogLevel::kError, base::LogFormat::kText};
};

TEST_F(MailWatchTest, WhatIsSeenIsAMetricAndTheHeartbeats) {
  Clinic clinic({{"hello_name", MailHealth::kOk, "It resolves."},
                 {"mail_from", MailHealth::kWarn, "No SPF."},
                 {"reverse_name", MailHealth::kFail, "None."}});
  const auto watch = Watch(clinic);
  EXPECT_FALSE(watch->seen());
  watch->Start();
  RunUntil([&] { return watch->seen().has_value(); });
  EXPECT_TRUE(Shows("vedette_email_doctor{check=\"hello_name\"} 1"));
  EXPECT_TRUE(Shows("vedette_email_doctor{check=\"mail_from\"} 0.5"));
  EXPECT_TRUE(Shows("vedette_email_doctor{check=\"reverse_name\"} 0"));
  const base::Json seen = base::ParseJsonOrThrow(*watch->seen());
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(base::DumpJson(seen[2]),
            R"({"check":"reverse_name","status":"fail","message":"None."})");
  EXPECT_EQ(clinic.begun(), 1) << "the next one is hours away";
}

TEST_F(MailWatchTest, ItLooksAgainAndWhatIsLookedAtNoMoreIsNeitherWellNorIll) {
  Clinic clinic({{"list one.example", MailHealth::kFail, "Listed."}});
  const auto watch = Watch(clinic, milliseconds(2));
  watch->Start();
  RunUntil([&] { return watch->seen().has_value(); });
  clinic.Find({{"hello_name", MailHealth::kOk, "It resolves."}});
  RunUntil([&] { return Shows("vedette_email_doctor{check=\"hello_name\"} 1"); });
  EXPECT_TRUE(Shows("vedette_email_doctor{check=\"list one.example\"} 0.5"));
}

TEST_F(MailWatchTest, AnExaminationThatFailsSaysSo) {
  class Broken final : public MailExamination {
   public:
    std::vector<MailCheck> Run() override { throw std::runtime_error("no socket"); }
    void Stop() override {}
  };
  MailWatch watch(loop, metrics, log, [] { return std::make_unique<Broken>(); });
  watch.Start();
  RunUntil([&] { return watch.seen().has_value(); });
  EXPECT_NE(watch.seen()->find("It ended early: no socket"), std::string::npos);
}

// Bounded: one examination at a time, and the end of the process ends it.
TEST_F(MailWatchTest, OneAtATimeAndItsEndIsNotWaitedFor) {
  Clinic clinic({});
  clinic.Linger();
  auto watch = Watch(clinic, milliseconds(1));
  watch->Start();
  int rounds = 0;
  RunUntil([&] { return ++rounds == 50; });
  clinic.WaitForBegun(1);
  EXPECT_EQ(clinic.begun(), 1);
  watch.reset();
  loop.Post([this] { loop.Stop(); });
  loop.Run();
}

}  // namespace
}  // namespace vedette::app
