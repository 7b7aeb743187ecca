#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json_text.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/live.h"
#include "metrics/metrics.h"

// Whether mail servers will talk to this machine, with its configuration, and what to do where they
// will not.
namespace vedette::app {

enum class MailHealth : std::uint8_t { kOk, kWarn, kFail };
std::string_view MailHealthName(MailHealth health);  // "ok", "warn", "fail"

struct MailCheck {
  std::string name;  // bounded: what is checked, and names of the configuration
  MailHealth health = MailHealth::kOk;
  std::string message;  // what was seen, and what to do about it
};

// [{"check", "status", "message"}]
base::Json MailChecksJson(const std::vector<MailCheck>& checks);

// One examination, on whatever thread runs it.
class MailExamination {
 public:
  virtual ~MailExamination() = default;

  // Blocks until everything was looked at, or Stop was called; then what was looked at. Once.
  virtual std::vector<MailCheck> Run() = 0;
  // Makes Run return soon. Any thread.
  virtual void Stop() = 0;
};

// Checks that have not begun after this time are left out, and a check "time" says so.
inline constexpr std::chrono::minutes kMailExaminationMax{10};

// Asks the DNS, the mail servers of [email.smtp] doctor_domains for their banner, and doctor_lists
// for the outgoing address. What is handed in must outlive it.
std::unique_ptr<MailExamination> ExamineMail(const config::Config& config,
                                             const base::Clock& clock);

// Between two examinations of one process.
inline constexpr std::chrono::hours kMailWatchEvery{6};

// The doctor of mail in a process that asks mail servers: at the start, and every kMailWatchEvery,
// one examination on a thread of its own. What it finds is in vedette_email_doctor, in the
// heartbeat of the process, and in the log when the worst of it changes. Lives on `loop`;
// everything handed in must outlive this object.
//
//   resting --the timer--> examining --all was looked at--> resting
//
// A timer that fires while it examines is passed over.
class MailWatch {
 public:
  using Begin = std::function<std::unique_ptr<MailExamination>()>;

  MailWatch(base::EventLoop& loop, metrics::Metrics& metrics, base::Logger log, Begin begin,
            std::chrono::milliseconds every = kMailWatchEvery);
  // Stops an examination that is under way, and waits for its end, which comes soon. On the loop
  // thread or while the loop does not run.
  ~MailWatch();

  // On the loop thread.
  void Start();

  // MailChecksJson of the last examination; empty before the first one has ended. Loop thread.
  const std::optional<std::string>& seen() const { return seen_; }

 private:
  void Examine();
  void Note(const std::vector<MailCheck>& checks);

  base::EventLoop& loop_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  const Begin begin_;
  const std::chrono::milliseconds every_;
  std::optional<std::string> seen_;
  std::set<std::string> shown_;                   // names that have a series
  std::optional<MailHealth> worst_;               // of the last examination
  std::unique_ptr<MailExamination> examination_;  // null while resting
  std::thread thread_;                            // of the examination
  base::Timer timer_;
  const lease::Live live_;
};

}  // namespace vedette::app
