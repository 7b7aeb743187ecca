#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

namespace vedette::bench {

// A receiver on every address of this machine that answers 200 and notes when a notification had
// arrived whole. One thread for each connection; they end with the process.
class Arrivals {
 public:
  using Clock = std::chrono::steady_clock;

  // Ends the process where the port cannot be had.
  explicit Arrivals(int port);

  // Waits for the notification with this Service-Event-Id.
  Clock::time_point Wait(const std::string& event_id);

 private:
  void Accept();
  void Serve(int connection);

  const int fd_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::string, Clock::time_point> at_;  // of the first arrival
};

}  // namespace vedette::bench
