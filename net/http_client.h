#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "base/event_loop.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "net/public_address.h"

namespace vedette::net {

// The owner of the URL. A tenant's may reach public addresses only, plus the allow list, checked at
// every connection, by address (G9). The operator's (a probe's `url`) is exempt. Neither is ever
// redirected here: a 3xx is an answer like any other; the web probe follows itself, each hop
// checked.
enum class Trust { kTenant, kOperator };

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Trust trust = Trust::kTenant;
  // The organisation in whose turn the request goes where several wait; nil: nobody's in
  // particular.
  base::Uuid org{};
  std::chrono::milliseconds timeout{10000};  // name, connection, answer's body
  // How long the request may wait for a connection, which then does not count as time of `timeout`.
  // 0: the wait counts as part of `timeout`, so that `timeout` bounds everything.
  std::chrono::milliseconds wait_max{0};
  // Asked when the request has its turn, before anything is sent: whether it may still go.
  // `waited`: for the turn. False ends it as kBusy, and the next one is asked. Called on the loop
  // thread; it must not call the client.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
  std::size_t body_bytes_max = 4096;
  // What a longer body means: cut it and succeed (webhook answers), or fail (pages).
  bool truncate_body = false;
  // The budget that counts the answer's body, as it stands decoded; nullptr: none. The body is read
  // on only as its bytes are taken. While it waits for them `timeout` stands still, for a minute in
  // all: then it fails with kBusy. The budget outlives the client and every answer, and the loop
  // outlives every holding.
  base::ByteBudget* budget = nullptr;
};

enum class HttpErrorClass {
  kNone,
  kRefusedAddress,  // not public, or a URL that ParseTenantUrl refuses
  kDns,
  kConnect,
  kTls,
  kTimeout,
  kBodyTooLarge,
  kProtocol,  // reset, bad answer, everything else
  kShutdown,  // the client was stopped
  kBusy,      // no room in this process: the wait for a connection or for memory ran out
};
std::string_view HttpErrorClassName(HttpErrorClass error_class);  // "dns", "timeout", ...

struct HttpResponse {
  HttpErrorClass error_class = HttpErrorClass::kNone;
  std::string error;  // a sentence, where error_class is not kNone
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;  // decoded (gzip, deflate); empty where error_class is not kNone
  bool body_truncated = false;
  // What the body holds of the request's budget; null without one. The bytes are given back when
  // the last copy goes.
  std::shared_ptr<base::ByteBudget::Holding> held;
  std::chrono::microseconds duration{};  // without the wait for a connection, where wait_max is set
  std::string remote_address;            // empty when none was reached

  // The first header of that (lower-case) name.
  std::optional<std::string_view> Header(std::string_view name) const;
};

// Outgoing HTTP: curl multi on the loop, names by Resolver, addresses checked before and at
// connect. Loop thread only.
//
// Requests beyond the configured connections, of all hosts and of one, wait inside. A connection
// that becomes free goes to the organisation that holds fewest, so that nobody waits behind a
// neighbour's backlog (G10, connection_queue.h). One that has less than 50 ms of its timeout left
// is not begun: it fails with kTimeout.
class HttpClient {
 public:
  // Told the limit of a host ("name:port") when it is first asked and when the limit has changed.
  // Called on the loop thread; it must not call the client.
  using OnLimit = std::function<void(const std::string& host, int limit)>;

  // `per_host_gap`: the least time between the starts of two requests to one host and port.
  // `on_limit`: if set, how many requests to one host are under way at once follows its answers
  // (net/host_limit.h), up to connections_per_host_max. Without it they are always as many.
  HttpClient(base::EventLoop& loop, const config::NetConfig& config,
             std::chrono::milliseconds per_host_gap = std::chrono::milliseconds(0),
             OnLimit on_limit = nullptr);
  ~HttpClient();  // requests under way are dropped without a callback

  using Callback = std::function<void(HttpResponse)>;
  using RequestId = std::uint64_t;

  // `done` exactly once, later, on the loop thread, never from inside Send.
  RequestId Send(HttpRequest request, Callback done);

  // Fails everything under way with kShutdown (callbacks run before it returns).
  void CancelAll();

  std::size_t in_flight() const;

  // Connections that a client of this configuration may have open at once to whom it asks: more
  // than `connections_max`, since those of one host are kept in several places (net/poller.h).
  static std::int64_t OpenConnectionsMax(const config::NetConfig& config);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // by itself alone; what is posted to the loop only looks at it
};

}  // namespace vedette::net
