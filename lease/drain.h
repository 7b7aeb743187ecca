#pragma once

#include <chrono>
#include <functional>

#include "base/event_loop.h"
#include "lease/live.h"

namespace vedette::lease {

// How long a drain that is out of time still waits for the database.
inline constexpr std::chrono::milliseconds kDrainGrace{2000};

// How a holder of leased work stops: what is in flight has some time to end; then it is given back;
// then the database is not waited for either, because leases end by themselves.
//
//   kWorking -- Begin --> kDraining -- time is over --> kOverdue -- grace is over --> kDrained
//                             |                             |
//                             | Check: nothing is held      | Check: nothing is held
//                             v                             v
//                          kDrained                      kDrained
//
// Loop thread only. Everything handed in must outlive this object.
class Drain {
 public:
  struct Hooks {
    // Nothing is held any more, and nothing is under way.
    std::function<bool()> idle;
    // Out of time: gives back what is in flight. Not called again.
    std::function<void()> overdue;
    // The database does not answer either: forgets everything. Afterwards the drain has ended,
    // whatever `idle` says.
    std::function<void()> abandon;
  };

  Drain(base::EventLoop& loop, std::chrono::milliseconds time_max, Hooks hooks,
        std::chrono::milliseconds grace = kDrainGrace);

  // The owner stops taking work. `done` is posted to the loop when the drain has ended, at most
  // `time_max` and `grace` from here on. One call.
  void Begin(std::function<void()> done);

  // Something ended: the drain may have, too. Does nothing before Begin.
  void Check();

  // Since Begin.
  bool begun() const { return state_ != State::kWorking; }

 private:
  enum class State { kWorking, kDraining, kOverdue, kDrained };

  void OnTimer();
  void End();

  base::EventLoop& loop_;
  const std::chrono::milliseconds time_max_;
  const std::chrono::milliseconds grace_;
  const Hooks hooks_;
  base::Timer timer_;
  State state_ = State::kWorking;
  std::function<void()> done_;
  Live live_;
};

}  // namespace vedette::lease
