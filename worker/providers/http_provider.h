#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/fair_queue.h"
#include "config/config_fwd.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/services/request_room.h"

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

// The operator's own service, [providers.http.<id>] (docs/lookups.md): POST of the lookup, 200 with
// candidates, or 202 with a Location of the same origin, polled until 200 within the timeout. At
// most in_flight_max lookups are asked at once in this process; those beyond wait, organisations in
// turns, and fail as "overloaded" when their time ends. Its failures: those of ServiceAnswer.
class HttpProvider final : public Provider {
 public:
  // Everything handed in must outlive this object, but for `id` and `config`.
  HttpProvider(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
               const base::Clock& clock, std::string id, const config::HttpProviderConfig& config);
  ~HttpProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override;
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
