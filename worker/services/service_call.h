#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/monitor/failure.h"
#include "lease/live.h"
#include "net/http_client.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

// The time that one attempt has. Waits, for room in a budget and for turns, are no time
// of it: each moves the deadline by as much. Reads no clock: `now` is since boot, as of Clock. A
// value; one thread.
class AttemptTime {
 public:
  AttemptTime() = default;
  AttemptTime(std::chrono::nanoseconds now, std::chrono::milliseconds timeout)
      : deadline_(now + timeout) {}

  // The attempt waited for room. Its next turn tells of it.
  void WaitedForRoom(std::chrono::milliseconds waited) {
    base::Assert(waited.count() >= 0, "a wait is never shorter than nothing");
    deadline_ += waited;
    since_turn_ += waited;
  }

  // The attempt waited for its turn. Returns that together with its waits since the last turn.
  std::chrono::milliseconds WaitedForTurn(std::chrono::milliseconds waited) {
    base::Assert(waited.count() >= 0, "a wait is never shorter than nothing");
    deadline_ += waited;
    return waited + std::exchange(since_turn_, std::chrono::milliseconds(0));
  }

  // Negative once the deadline has passed.
  std::chrono::milliseconds Left(std::chrono::nanoseconds now) const {
    return std::chrono::floor<std::chrono::milliseconds>(deadline_ - now);
  }
  // The same as a request's timeout, which is at least a millisecond.
  std::chrono::milliseconds Timeout(std::chrono::nanoseconds now) const {
    return std::max(Left(now), std::chrono::milliseconds(1));
  }

 private:
  std::chrono::nanoseconds deadline_{};     // since boot
  std::chrono::milliseconds since_turn_{};  // what it waited for room since its last turn
};

// What requests to services of the operator's take their turns and their memory from.
struct ServiceDependencies {
  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
};

struct AttemptOptions {
  base::Uuid org_id;                    // who shares memory and connections with others
  std::string api_key{};                // sent as bearer token; empty: none
  std::size_t body_bytes_max = 0;       // of an answer
  std::chrono::milliseconds timeout{};  // of all requests together
  // How long a request may wait for memory, and for a connection. Where the second is not 0,
  // neither wait counts as time of `timeout`; where it is 0, both do.
  std::chrono::milliseconds room_wait_max{};
  std::chrono::milliseconds turn_wait_max{};
  // If set: asked each time that a request has its turn, before anything is sent, with how long the
  // attempt has waited since the turn before. False: nothing must be asked any more.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
};

// One attempt at a question to a service of the operator's: its requests, one after the other, of
// which each has room for its body and its turn before it is sent. Loop thread only. The loop, the
// client, the budgets and the clock must outlive it; callbacks of what is under way are dropped
// with it.
class ServiceAttempt {
 public:
  using Answer = std::variant<net::HttpResponse, domain::Failure>;

  ServiceAttempt(const ServiceDependencies& deps, AttemptOptions options);

  // Sends what `make` makes, but for what the options say of every request. `make` is called again
  // after a wait for memory, so that what waits holds none. `done` is called once, later, and may
  // destroy this object: with the response, or overloaded. Only then may another request follow.
  void Send(std::function<net::HttpRequest()> make, std::function<void(Answer)> done);

  // What was asked has gone, though the attempt goes on.
  void GiveBackRoom() { room_.reset(); }

  std::chrono::milliseconds Left() const { return time_.Left(deps_.clock.SinceBoot()); }

 private:
  void Post();
  void OnRoom(std::optional<std::chrono::milliseconds> waited);
  bool OnTurn(std::chrono::milliseconds waited);
  void End(Answer answer);
  // Whether waits are no time of the attempt.
  bool WaitsApart() const { return options_.turn_wait_max > std::chrono::milliseconds(0); }

  const ServiceDependencies deps_;
  const AttemptOptions options_;
  AttemptTime time_;
  std::optional<RequestRoom> room_;
  std::function<net::HttpRequest()> make_;
  std::function<void(Answer)> done_;  // set while a request is under way
  lease::Live live_;
};

// One question to a service of the operator's over HTTP, from the POST to the answer. The http
// probe and the http providers of lookups ask so.
//
//   POST --200--> answered
//     |
//     +---202 with a Location of the same origin--> GET there after Retry-After --200--> answered
//                                                    ^                       |
//                                                    +--------- 202 ---------+

struct Service {
  std::string url;             // the operator's: exempt from G9, never redirected
  std::string api_key;         // sent as bearer token; empty: none
  std::string signing_secret;  // signs every request as webhooks are signed; empty: none
  std::size_t body_bytes_max;  // of an answer
  std::string name;            // "research service", for messages
};

struct ServiceQuestion {
  base::Uuid org_id;           // who shares memory and connections with others
  base::Uuid idempotency_key;  // the same whenever the question is repeated
  // Makes the body of the POST. It is called again after a wait for memory, so that what waits
  // holds none.
  std::function<std::string()> body;
  std::chrono::milliseconds timeout{};  // of all requests together
  // How long the POST may wait for memory, and each request for a connection. Where the second is
  // not 0, neither wait counts as time of `timeout`; where it is 0, both do.
  std::chrono::milliseconds room_wait_max{};
  std::chrono::milliseconds turn_wait_max{};
  // If set: asked each time that a request has its turn, before anything is sent, with how long it
  // waited. False: the question must not be asked any more.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
};

// The answer with the status 200, whose body counts in the budget until the last copy goes, or why
// there is none:
//   dns, connect, tls, timeout, http_status, protocol, invalid_answer, body_too_large, overloaded,
//   shutdown
using ServiceAnswer = std::variant<net::HttpResponse, domain::Failure>;

// Asks one service. Loop thread only. Everything handed in must outlive this object.
class ServiceCaller {
 public:
  ServiceCaller(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                const base::Clock& clock, Service service);
  ~ServiceCaller();  // callbacks of what is under way are dropped

  // `done` is called exactly once, later.
  void Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
