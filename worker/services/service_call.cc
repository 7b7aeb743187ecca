#include "worker/services/service_call.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "domain/job/webhook.h"
#include "html/http_failure.h"
#include "html/url_reference.h"
#include "net/retry_after.h"

namespace vedette::worker {

using std::chrono::milliseconds;

ServiceAttempt::ServiceAttempt(const ServiceDependencies& deps, AttemptOptions options)
    : deps_(deps),
      options_(std::move(options)),
      time_(deps.clock.SinceBoot(), options_.timeout),
      room_(std::in_place, deps.loop, deps.budgets.questions, options_.org_id) {}

void ServiceAttempt::Send(std::function<net::HttpRequest()> make,
                          std::function<void(Answer)> done) {
  base::Assert(done_ == nullptr, "one request of an attempt is under way at a time");
  make_ = std::move(make);
  done_ = std::move(done);
  Post();
}

void ServiceAttempt::Post() {
  net::HttpRequest request = make_();
  if (room_ && !room_->Take(request.body.size(), options_.room_wait_max,
                            [this](std::optional<milliseconds> waited) { OnRoom(waited); })) {
    return;
  }
  if (!options_.api_key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + options_.api_key);
  }
  request.trust = net::Trust::kOperator;
  request.org = options_.org_id;
  request.timeout = time_.Timeout(deps_.clock.SinceBoot());
  request.wait_max = options_.turn_wait_max;
  request.on_turn = live_.Guard([this](milliseconds waited) { return OnTurn(waited); });
  request.budget = &deps_.budgets.answers;
  request.body_bytes_max = options_.body_bytes_max;
  deps_.client.Send(std::move(request),
                    live_.Guard([this](net::HttpResponse response) { End(std::move(response)); }));
}

void ServiceAttempt::OnRoom(std::optional<milliseconds> waited) {
  if (!waited) return End(html::OverloadedFailure());
  if (WaitsApart()) time_.WaitedForRoom(*waited);
  Post();
}

bool ServiceAttempt::OnTurn(milliseconds waited) {
  const milliseconds all = WaitsApart() ? time_.WaitedForTurn(waited) : waited;
  return !options_.on_turn || options_.on_turn(all);
}

// The last thing of every path: it may destroy this object.
void ServiceAttempt::End(Answer answer) {
  std::exchange(done_, nullptr)(std::move(answer));
}

namespace {

using domain::Failure;

// Between polls, where the service does not say; and at least, whatever it says.
constexpr milliseconds kPollDefault{1000};
constexpr milliseconds kPollMin{100};

}  // namespace

struct ServiceCaller::Impl {
  using CallId = std::uint64_t;

  struct Call {
    ServiceQuestion question;
    std::function<void(ServiceAnswer)> done;
    std::unique_ptr<ServiceAttempt> attempt;
    std::string location;  // polled; empty before the first 202
    std::unique_ptr<base::Timer> timer;
  };

  Impl(const ServiceDependencies& m, Service s) : deps(m), service(std::move(s)) {}

  void Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done);
  net::HttpRequest MakePost(CallId id);
  net::HttpRequest MakeGet(CallId id);
  void Send(CallId id, net::HttpRequest (Impl::*make)(CallId));
  void Sign(net::HttpRequest* request) const;
  void OnAnswer(CallId id, ServiceAttempt::Answer answer);
  void OnAccepted(CallId id, Call& call, const net::HttpResponse& response);
  void Finish(CallId id, ServiceAnswer answer);

  const ServiceDependencies deps;
  const Service service;

  std::unordered_map<CallId, Call> calls;
  CallId last_id = 0;
};

void ServiceCaller::Impl::Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done) {
  const CallId id = ++last_id;
  AttemptOptions options;
  options.org_id = question.org_id;
  options.api_key = service.api_key;
  options.body_bytes_max = service.body_bytes_max;
  options.timeout = question.timeout;
  options.room_wait_max = question.room_wait_max;
  options.turn_wait_max = question.turn_wait_max;
  options.on_turn = std::move(question.on_turn);
  Call call;
  call.done = std::move(done);
  call.attempt = std::make_unique<ServiceAttempt>(deps, std::move(options));
  call.question = std::move(question);
  calls.emplace(id, std::move(call));
  Send(id, &Impl::MakePost);
}

// The attempt is the call's, and the call is this object's: what is sent ends with either.
void ServiceCaller::Impl::Send(CallId id, net::HttpRequest (Impl::*make)(CallId)) {
  calls.at(id).attempt->Send(
      [this, id, make] { return (this->*make)(id); },
      [this, id](ServiceAttempt::Answer answer) { OnAnswer(id, std::move(answer)); });
}

net::HttpRequest ServiceCaller::Impl::MakePost(CallId id) {
  const ServiceQuestion& question = calls.at(id).question;
  net::HttpRequest post;
  post.body = question.body();
  post.method = "POST";
  post.url = service.url;
  post.headers = {{"Content-Type", "application/json"},
                  {"Idempotency-Key", question.idempotency_key.ToString()}};
  Sign(&post);
  return post;
}

net::HttpRequest ServiceCaller::Impl::MakeGet(CallId id) {
  net::HttpRequest get;
  get.url = calls.at(id).location;
  Sign(&get);
  return get;
}

void ServiceCaller::Impl::Sign(net::HttpRequest* request) const {
  request->headers.emplace_back("Accept", "application/json");
  if (service.signing_secret.empty()) return;
  const auto now = std::chrono::floor<std::chrono::seconds>(deps.clock.Now().time_since_epoch());
  request->headers.emplace_back(
      "Service-Signature",
      domain::SignatureHeader({service.signing_secret}, now.count(), request->body));
}

void ServiceCaller::Impl::OnAnswer(CallId id, ServiceAttempt::Answer answer) {
  if (auto* failure = std::get_if<Failure>(&answer)) return Finish(id, std::move(*failure));
  auto& response = std::get<net::HttpResponse>(answer);
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, html::TransportFailure(response, "the " + service.name));
  }
  if (response.status == 200) return Finish(id, std::move(response));
  if (response.status == 202) return OnAccepted(id, calls.at(id), response);
  Finish(id, html::StatusFailure(response, "the " + service.name, deps.clock.Now()));
}

void ServiceCaller::Impl::OnAccepted(CallId id, Call& call, const net::HttpResponse& response) {
  call.attempt->GiveBackRoom();
  if (const auto header = response.Header("location")) {
    const std::string& from = call.location.empty() ? service.url : call.location;
    call.location = html::ResolveReference(from, *header);
  }
  if (call.location.empty() || !html::SameOrigin(call.location, service.url)) {
    return Finish(id, Failure{"invalid_answer",
                              fmt::format("The {} answered 202 without a Location of its origin.",
                                          service.name),
                              false,
                              {}});
  }
  const milliseconds wait =
      std::max(net::RetryAfter(response, deps.clock.Now()).value_or(kPollDefault), kPollMin);
  if (wait >= call.attempt->Left()) {
    // The next attempt carries the same Idempotency-Key and may find the answer ready.
    return Finish(
        id, Failure{"timeout",
                    fmt::format("The {} did not have its answer within the timeout.", service.name),
                    true, wait});
  }
  call.timer = std::make_unique<base::Timer>(deps.loop, [this, id] { Send(id, &Impl::MakeGet); });
  call.timer->Start(wait);
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
    : impl_(std::make_unique<Impl>(ServiceDependencies{loop, client, budgets, clock},
                                   std::move(service))) {}

ServiceCaller::~ServiceCaller() = default;

void ServiceCaller::Ask(ServiceQuestion question, std::function<void(ServiceAnswer)> done) {
  impl_->Ask(std::move(question), std::move(done));
}

}  // namespace vedette::worker
