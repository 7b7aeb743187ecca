#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/failure.h"
#include "net/http_client.h"
#include "worker/services/request_room.h"

// One question to a service of the operator's over HTTP, from the POST to the answer. The http
// probe and the http providers of lookups ask so.
//
//   POST --200--> answered
//     |
//     +---202 with a Location of the same origin--> GET there after Retry-After --200--> answered
//                                                    ^                       |
//                                                    +--------- 202 ---------+
namespace vedette::worker {

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
