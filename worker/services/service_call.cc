#include "worker/services/service_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "domain/signature.h"
#include "net/retry_after.h"
#include "pages/http_failure.h"
#include "pages/url_reference.h"
#include "worker/services/attempt_time.h"

namespace vedette::worker {
namespace {

using domain::Failure;
using std::chrono::milliseconds;

// Between polls, where the service does not say; and at least, whatever it says.
constexpr milliseconds kPollDefault{1000};
constexpr milliseconds kPollMin{100};

}  // namespace

struct ServiceCaller::Impl : std::enable_shared_from_this<ServiceCaller::Impl> {
  using CallId = std::uint64_t;

  struct Call {
    ServiceQuestion question;
    std::function<void(ServiceAnswer)> done;
    AttemptTime time;
    std::unique_ptr<RequestRoom> room;  // of what is asked
    std::string location;               // polled; empty before the first 202
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const ServiceBudgets& b, const base::Clock& k,
       Service s)
      : loop(l), client(c), budgets(b), clock(k), service(std::move(s)) {}

  void Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done);
  void Post(CallId id);
  void OnRoom(CallId id, std::optional<milliseconds> waited);
  void Send(CallId id, net::HttpRequest request);
  bool OnTurn(CallId id, milliseconds waited);
  void OnResponse(CallId id, net::HttpResponse response);
  void OnAccepted(CallId id, Call& call, const net::HttpResponse& response);
  void Poll(CallId id);
  void Finish(CallId id, ServiceAnswer answer);

  // Whether waits are no time of the question.
  static bool WaitsApart(const Call& call) { return call.question.turn_wait_max > milliseconds(0); }

  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
  const Service service;

  std::unordered_map<CallId, Call> calls;
  CallId last_id = 0;
};

void ServiceCaller::Impl::Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done) {
  const CallId id = ++last_id;
  Call call;
  call.done = std::move(done);
  call.time = AttemptTime(clock.SinceBoot(), question.timeout);
  call.room = std::make_unique<RequestRoom>(loop, budgets.questions, question.org_id);
  call.question = std::move(question);
  calls.emplace(id, std::move(call));
  Post(id);
}

void ServiceCaller::Impl::Post(CallId id) {
  Call& call = calls.at(id);
  net::HttpRequest post;
  post.body = call.question.body();
  if (!call.room->Take(post.body.size(), call.question.room_wait_max,
                       [this, id](std::optional<milliseconds> waited) { OnRoom(id, waited); })) {
    return;
  }
  post.method = "POST";
  post.url = service.url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Idempotency-Key", call.question.idempotency_key.ToString()}};
  Send(id, std::move(post));
}

void ServiceCaller::Impl::OnRoom(CallId id, std::optional<milliseconds> waited) {
  if (!waited) return Finish(id, pages::OverloadedFailure());
  Call& call = calls.at(id);
  if (WaitsApart(call)) call.time.WaitedForRoom(*waited);
  Post(id);
}

bool ServiceCaller::Impl::OnTurn(CallId id, milliseconds waited) {
  const auto it = calls.find(id);
  if (it == calls.end()) return false;
  Call& call = it->second;
  const milliseconds all = WaitsApart(call) ? call.time.WaitedForTurn(waited) : waited;
  return !call.question.on_turn || call.question.on_turn(all);
}

void ServiceCaller::Impl::Send(CallId id, net::HttpRequest request) {
  request.headers.emplace_back("Accept", "application/json");
  if (!service.api_key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + service.api_key);
  }
  if (!service.signing_secret.empty()) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now().time_since_epoch());
    request.headers.emplace_back(
        "Service-Signature",
        domain::SignatureHeader({service.signing_secret}, now.count(), request.body));
  }
  const Call& call = calls.at(id);
  request.trust = net::Trust::kOperator;
  request.org = call.question.org_id;
  request.timeout = call.time.Timeout(clock.SinceBoot());
  request.wait_max = call.question.turn_wait_max;
  request.on_turn = [id, weak = weak_from_this()](milliseconds waited) {
    const auto self = weak.lock();
    return self != nullptr && self->OnTurn(id, waited);
  };
  request.budget = &budgets.answers;
  request.body_bytes_max = service.body_bytes_max;
  client.Send(std::move(request), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, std::move(response));
  });
}

void ServiceCaller::Impl::OnResponse(CallId id, net::HttpResponse response) {
  const auto it = calls.find(id);
  if (it == calls.end()) return;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, pages::TransportFailure(response, "the " + service.name));
  }
  if (response.status == 200) return Finish(id, std::move(response));
  if (response.status == 202) return OnAccepted(id, it->second, response);
  Finish(id, pages::StatusFailure(response, "the " + service.name, clock.Now()));
}

void ServiceCaller::Impl::OnAccepted(CallId id, Call& call, const net::HttpResponse& response) {
  call.room.reset();  // what was asked has gone
  if (const auto header = response.Header("location")) {
    const std::string& from = call.location.empty() ? service.url : call.location;
    call.location = pages::ResolveReference(from, *header);
  }
  if (call.location.empty() || !pages::SameOrigin(call.location, service.url)) {
    return Finish(id, Failure{"invalid_answer",
                              fmt::format("The {} answered 202 without a Location of its origin.",
                                          service.name),
                              false,
                              {}});
  }
  const milliseconds wait =
      std::max(net::RetryAfter(response, clock.Now()).value_or(kPollDefault), kPollMin);
  if (wait >= call.time.Left(clock.SinceBoot())) {
    // The next attempt carries the same Idempotency-Key and may find the answer ready.
    return Finish(
        id, Failure{"timeout",
                    fmt::format("The {} did not have its answer within the timeout.", service.name),
                    true, wait});
  }
  call.timer = std::make_unique<base::Timer>(loop, [this, id] { Poll(id); });
  call.timer->Start(wait);
}

void ServiceCaller::Impl::Poll(CallId id) {
  net::HttpRequest get;
  get.url = calls.at(id).location;
  Send(id, std::move(get));
}

void ServiceCaller::Impl::Finish(CallId id, ServiceAnswer answer) {
  const auto it = calls.find(id);
  if (it == calls.end()) return;
  const auto done = std::move(it->second.done);
  calls.erase(it);
  done(std::move(answer));
}

ServiceCaller::ServiceCaller(base::EventLoop& loop, net::HttpClient& client,
                             const ServiceBudgets& budgets, const base::Clock& clock,
                             Service service)
    : impl_(std::make_shared<Impl>(loop, client, budgets, clock, std::move(service))) {}

ServiceCaller::~ServiceCaller() = default;

void ServiceCaller::Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done) {
  impl_->Ask(std::move(question), std::move(done));
}

}  // namespace vedette::worker
