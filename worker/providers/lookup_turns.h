#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/fair_queue.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// The share of a provider's places that is kept for questions that a client waits for.
inline constexpr double kPlacesKeptForWaited = 0.25;

// How many questions a provider is asked, at once and one after another. Those beyond wait: those
// that a client waits for go before the others, which leave the last places to them, and
// organisations take turns among both:
//
//   Start --its turn--> asked --answer--> done
//     |                   ^
//     +--waits------------+
//          +--its time ends--> done ("overloaded")
//          +--may_call says no when its turn comes--> done ("unheld")
//
// Loop thread only. It must outlive what it started, or drop it unanswered.
class LookupTurns {
 public:
  using Done = std::function<void(LookupAnswer)>;
  // Asks the provider; the request's timeout is what is left of its time.
  using Ask = std::function<void(LookupRequest, Done)>;

  struct Limits {
    int in_flight_max;
    std::chrono::milliseconds gap{};  // at least, from one question's start to the next one's
  };

  // Everything handed in must outlive this object.
  LookupTurns(base::EventLoop& loop, const base::Clock& clock, Limits limits, Ask ask);
  ~LookupTurns();

  void Start(LookupRequest request, Done done);

 private:
  using WaitId = std::uint64_t;

  struct Waiting {
    LookupRequest request;
    Done done;
    std::chrono::nanoseconds deadline{};  // by Clock::SinceBoot
    std::unique_ptr<base::Timer> timer{};
  };

  using Turns = base::FairQueue<base::Uuid, WaitId>;

  // Places of questions that a client waits for, or of the others.
  int Places(bool waited) const;
  bool HasTurn(bool waited) const;
  Turns& TurnsOf(bool waited) { return waited ? waited_turns_ : turns_; }
  // The queue whose turn it is; null where none has one.
  Turns* NextTurns();
  void OnTime(WaitId id);
  void Run(LookupRequest request, Done done);
  // Gives turns to those that wait, as far as the limits allow.
  void GiveTurns();

  base::EventLoop& loop_;
  const base::Clock& clock_;
  const Limits limits_;
  const Ask ask_;
  int in_flight_ = 0;
  std::chrono::nanoseconds next_start_{};  // not before it
  WaitId last_id_ = 0;
  std::unordered_map<WaitId, Waiting> waiting_;
  // The keys of `waiting_`, by organisation.
  Turns waited_turns_;
  Turns turns_;
  base::Timer next_turn_;
};

}  // namespace vedette::worker
