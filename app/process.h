#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.h"

namespace vedette::app {

// SIGINT, SIGTERM and (unless it is ignored) SIGHUP as something to wait for: the first asks for a
// clean stop, a second one ends the process at once. Made by main before any other thread, because
// the signals are blocked for the threads that come after it.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // True once one has come. Any thread.
  bool Received() const;

  // Waits for one, at most `limit`; true if one has come. Any thread.
  bool WaitFor(std::chrono::milliseconds limit) const;

 private:
  void Run();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int received_ = 0;  // the signal's number
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;
};

// Ends the process where this still lives after `limit`, though threads hang that cannot be ended
// otherwise: in what a database that does not answer has been asked. What the process held is as
// safe as if it had been killed.
class EndWithin {
 public:
  EndWithin(std::chrono::milliseconds limit, int status, const base::Logger& log);
  ~EndWithin();
  EndWithin(const EndWithin&) = delete;
  EndWithin& operator=(const EndWithin&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

// Neither a core dump nor another process of the same user sees this one's memory from now on,
// which holds keys, tokens and people's addresses. (PR_SET_DUMPABLE; root still may.)
void ForbidDumps();

}  // namespace vedette::app
