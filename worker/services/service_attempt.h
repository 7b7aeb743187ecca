#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/failure.h"
#include "lease/live.h"
#include "net/http_client.h"
#include "worker/services/attempt_time.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

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

}  // namespace vedette::worker
