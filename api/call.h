#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "api/reply.h"
#include "api/selector_fault.h"
#include "api/webhook_tester.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "domain/monitor.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "store/auth.h"
#include "store/session.h"
#include "store/signals.h"

// What a handler has at hand.
namespace vedette::api {

// The parts of the process that the API uses; all outlive every request.
struct Parts {
  const config::Config& config;
  store::Pool& pool;
  store::Signals& signals;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  const net::AddressPolicy& policy;
  WebhookTester& webhook_tester;
  SelectorFault selector_fault;
  base::Logger log;
  std::atomic<int>& uploads_open;
  // Every body, parsed body and long answer takes its bytes from here, through Exchange::held().
  base::ByteBudget& held_bytes;
};

// The answer to one request, given exactly once: adds the common headers, counts the request.
// Passed from thread to thread, used by one at a time.
class Answer {
 public:
  Answer(const Parts& parts, std::shared_ptr<net::Exchange> exchange, std::string route);
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  const net::ServerRequest& request() const { return exchange_->request(); }
  // To read a streamed body from; answers go through Send and Begin.
  net::Exchange& exchange() { return *exchange_; }
  const std::string& request_id() const { return request_id_; }
  void AddHeader(std::string name, std::string value);

  void Send(Reply reply);
  // Begins a streamed 200 of JSON.
  net::Exchange& Begin();

 private:
  void Count(int status);

  const Parts& parts_;
  std::shared_ptr<net::Exchange> exchange_;
  std::string route_;
  std::string request_id_;
  std::chrono::nanoseconds began_at_;
  std::vector<std::pair<std::string, std::string>> headers_;
  bool counted_ = false;
};

// One authenticated request on a pool's thread.
struct Call {
  const Parts& parts;
  store::Session& session;
  std::shared_ptr<Answer> answer;
  std::vector<std::string> path_params;  // decoded, in the order of the pattern
  store::Caller caller;

  const net::ServerRequest& request() const { return answer->request(); }
  store::MonitorScope scope() const { return caller.scope(); }
  // What this request holds of Parts::held_bytes, on account of the caller's organisation; the body
  // is in it. Handlers take more for what they make of it, and for their answers.
  base::ByteBudget::Holding& held() const { return answer->exchange().held(); }
};

// Empty where the handler has taken the answer over.
using Handled = std::optional<Reply>;
using Handler = Handled (*)(Call& call);

// The monitor that the path's first parameter names, or a 404.
Judged<domain::Monitor> FindMonitor(Call& call);
// The row of it that the second one names, or a 404.
Judged<domain::Row> FindRow(Call& call, const domain::Monitor& monitor);

// The body as a JSON object: else 413, 415, 400, or 422 for what is over a limit of the parser.
Judged<JsonBody> ReadJsonObject(const Call& call);
// For routes without a body: nothing, or an empty object. What is wrong otherwise.
std::optional<Reply> CheckEmptyBody(const Call& call);

// The answer that stands for the exception being handled; logged. Call inside a catch block.
Reply FailureReply(const base::Logger& log, const Answer& answer);

// Whether the organisation may use what is asked for: a 403, or nothing.
std::optional<Reply> CheckFeature(const Call& call, bool needed, std::string_view feature,
                                  std::string_view what);

}  // namespace vedette::api
