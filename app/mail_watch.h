#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/mail_check.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/live.h"
#include "metrics/metrics.h"

namespace vedette::app {

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
