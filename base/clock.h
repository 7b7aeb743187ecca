#pragma once

#include <time.h>

#include <chrono>
#include <string>
#include <string_view>

namespace vedette::base {

// A point in time as the database and the API know it: UTC, microseconds.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

// The source of time. It is passed in, so that tests can move it. All methods are safe on any
// thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall clock; in a service that of the database (store/database_clock.h). For ids, for what
  // people read and for signatures; never for leases, which the database itself decides.
  virtual Timestamp Now() const = 0;

  // Time since boot, suspended time included (CLOCK_BOOTTIME), so that a machine that slept knows
  // it. For ages and deadlines inside the process.
  virtual std::chrono::nanoseconds SinceBoot() const = 0;
};

// The operating system's clocks. Stateless.
class SystemClock final : public Clock {
 public:
  Timestamp Now() const override;
  std::chrono::nanoseconds SinceBoot() const override;
};

// The processor's time that the calling thread has taken until now (CLOCK_THREAD_CPUTIME_ID).
// Unlike SinceBoot it stands still while the thread does not run. A call costs about 0.3 us.
std::chrono::nanoseconds ThreadTime();

// The same of one thread, for others to read. Any thread, while that one lives.
class ThreadClock {
 public:
  ThreadClock();  // of the calling thread
  std::chrono::nanoseconds Now() const;

 private:
  clockid_t id_;
};

// RFC 3339, UTC, microseconds: "2026-11-21T09:30:00.000000Z".
std::string FormatTimestamp(Timestamp t);

// Reads what FormatTimestamp writes, also with fewer or no fractional digits and with a numeric
// offset ("+01:00"). Throws std::invalid_argument, whose message names the text.
Timestamp ParseTimestamp(std::string_view text);

}  // namespace vedette::base
