#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "store/async.h"

namespace vedette::rest {

// What the answers of one port have in common. Everything in it must outlive every Answer.
struct Port {
  std::string_view name;          // in the metrics' label: "<name> <pattern>"
  std::string_view no_route;      // in place of the pattern, where no route matched
  std::vector<Header> headers{};  // of every answer, unless the reply has its own of that name
  const base::Clock& clock;
  metrics::Metrics& metrics;
  base::Logger log;
};

// The reply as the server sends it, with `headers` where the reply has none of that name.
net::ServerResponse ToResponse(Reply reply, const std::vector<Header>& headers);

// What a handler returns in place of a reply when somebody else gives the answer later: it has
// handed the Answer over, and its thread is free.
struct Parked {};
using Handled = std::variant<Reply, Parked>;

// The answer to one request, given exactly once: adds the port's headers and X-Request-Id, and
// counts the request. Passed from thread to thread, used by one at a time; only Send may race the
// client's going. Dropped unanswered, it counts as the 500 that the server gives.
//
//                 Begin                    (written through the exchange)
//             ┌──────────▶ kStreaming ──────────────────────────────────▶ end of the object
//   kOpen ────┤
//     │       └──────────▶ kGiven ──────────────────────────────────────▶ end of the object
//     │ Park        Send      ▲
//     └────▶ kParked ─────────┘ Send
class Answer {
 public:
  // `pattern`: the route's; empty where no route matched.
  Answer(const Port& port, std::shared_ptr<net::Exchange> exchange, std::string_view pattern);
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  const Port& port() const { return port_; }
  const net::ServerRequest& request() const { return exchange_->request(); }
  // To read a body from; answers go through Send and Begin.
  net::Exchange& exchange() { return *exchange_; }
  const std::string& request_id() const { return request_id_; }
  const std::string& pattern() const { return pattern_; }
  // Lets go of the request's body, and of what was held for it.
  void DropBody();
  void AddHeader(std::string name, std::string value);

  void Send(Reply reply);
  // Begins a streamed 200, of JSON unless the headers have a Content-Type. The exchange's Write and
  // End go on.
  net::Exchange& Begin(std::vector<Header> headers = {});

  // For an answer that waits for something that may take minutes, such as the end of a job. Call it
  // before the answer is handed over, and return what it returns:
  //
  //   Parked parked = call.answer->Park([&waits, id] { waits.Forget(id); });
  //   waits.Add(id, call.answer);
  //   return parked;
  //
  // The body is forgotten, the request is counted under "wait <pattern>", beside the port's own
  // labels, and `gone` runs on the server's thread, at most once, when the client has left
  // (Exchange::WhenGone). Send has no effect then. `gone` must not keep this object, and must not
  // block; it may run before Park has returned.
  Parked Park(std::function<void()> gone);

 private:
  enum class State { kOpen, kParked, kStreaming, kGiven };

  void Count(int status, State next);

  const Port& port_;
  std::shared_ptr<net::Exchange> exchange_;
  std::string pattern_;
  std::string request_id_;
  std::chrono::nanoseconds began_at_;
  std::vector<Header> headers_;
  State state_ = State::kOpen;
};

// Takes what is pending of the request's body, waiting at most `wait_max` in sum for bytes of its
// budget, and runs `then` on the server's thread, or at once where nothing is pending. Otherwise
// the answer is a 503, or the client is gone.
void GatherBody(const std::shared_ptr<Answer>& answer, std::chrono::milliseconds wait_max,
                std::function<void()> then);

// Plain blocking code, on a pool's thread. It may throw a Refusal, or what the store throws.
using PoolHandler = std::function<Handled(store::Session&)>;
// The answer to what a handler threw, or to a queue that is full.
using FailureHandler = std::function<Reply(const store::Failure&)>;

// Logs the failure under the answer's request id, as an error where it is a fault.
void LogFailure(const Answer& answer, const store::Failure& failure);
// Logs the exception that is being handled and says what to answer (reply.h). Call inside a
// catch block.
Reply CurrentFailureReply(const Answer& answer);

// Runs `handler` on this thread and sends its reply unless it parked the answer. What it throws is
// answered as Serve has it.
void ServeHere(const std::shared_ptr<Answer>& answer, const std::function<Handled()>& handler,
               const FailureHandler& failed = {});

// Runs `handler` on the pool, in the turn of `turn` (nothing: of nobody), and sends its reply
// unless it parked the answer. A Refusal that it throws is sent as well; what else it throws is
// logged and answered by `failed`, by default FailureReply; a full queue is, too. `pool` must
// outlive the request. Any thread.
void Serve(store::Pool& pool, const std::optional<base::Uuid>& turn,
           const std::shared_ptr<Answer>& answer, PoolHandler handler, FailureHandler failed = {});

}  // namespace vedette::rest
