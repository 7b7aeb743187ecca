#include "api/kit/answer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/kit/reply.h"
#include "base/assert.h"
#include "base/uuid.h"

namespace vedette::rest {
namespace {

// Before the pattern in the label of a parked request. Without the port's name: how long it took
// says nothing about the port.
constexpr std::string_view kParkedLabel = "wait";

bool HasHeader(const std::vector<Header>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const Header& header) { return header.first == name; });
}

}  // namespace

net::ServerResponse ToResponse(Reply reply, const std::vector<Header>& headers) {
  net::ServerResponse response;
  response.status = reply.status;
  for (const Header& header : headers) {
    if (!HasHeader(reply.headers, header.first)) response.headers.push_back(header);
  }
  const bool typed = HasHeader(reply.headers, "Content-Type");
  if (!typed && !reply.body.empty()) {
    response.headers.emplace_back("Content-Type", "application/json");
  }
  for (Header& header : reply.headers) response.headers.push_back(std::move(header));
  response.body = std::move(reply.body);
  return response;
}

Answer::Answer(const Port& port, std::shared_ptr<net::Exchange> exchange, std::string_view pattern)
    : port_(port),
      exchange_(std::move(exchange)),
      pattern_(pattern.empty() ? port.no_route : pattern),
      request_id_(net::RequestIdOf(exchange_->request())),
      began_at_(port.clock.SinceBoot()),
      headers_(port.headers) {
  headers_.emplace_back("X-Request-Id", request_id_);
}

Answer::~Answer() {
  if (state_ == State::kOpen || state_ == State::kParked) Count(500, State::kGiven);
}

void Answer::AddHeader(std::string name, std::string value) {
  headers_.emplace_back(std::move(name), std::move(value));
}

void Answer::Send(Reply reply) {
  if (state_ == State::kOpen || state_ == State::kParked) Count(reply.status, State::kGiven);
  exchange_->Send(ToResponse(std::move(reply), headers_));
}

net::Exchange& Answer::Begin(std::vector<Header> headers) {
  base::Assert(state_ == State::kOpen, "a streamed answer begins before anything was answered");
  Count(200, State::kStreaming);
  if (!HasHeader(headers, "Content-Type")) {
    headers.emplace_back("Content-Type", "application/json");
  }
  net::ServerResponse head = ToResponse({200, {}, std::move(headers)}, headers_);
  exchange_->Begin(head.status, std::move(head.headers));
  return *exchange_;
}

Parked Answer::Park(std::function<void()> gone) {
  base::Assert(state_ == State::kOpen, "an answer is parked once, before it is given");
  state_ = State::kParked;
  DropBody();
  exchange_->WhenGone(std::move(gone));
  return {};
}

void Answer::DropBody() {
  const std::size_t bytes = exchange_->request().body.size();
  exchange_->DropBody();
  base::ByteBudget::Holding& held = exchange_->held();
  if (held) held.GiveBack(std::min(bytes, held.bytes()));
}

void Answer::Count(int status, State next) {
  const std::string_view name = state_ == State::kParked ? kParkedLabel : port_.name;
  state_ = next;
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(port_.clock.SinceBoot() - began_at_);
  port_.metrics.ObserveHttpRequest(std::string(name) + ' ' + pattern_, status, took);
  // The route's pattern, as a path may name a person.
  port_.log.Debug("answered", {{"request", request_id_},
                               {"method", request().method},
                               {"route", pattern_},
                               {"status", status},
                               {"duration_us", took.count()}});
}

namespace {

Reply ReplyTo(const store::Failure& failure, const Answer& answer, const FailureHandler& failed) {
  return failed ? failed(failure) : FailureReply(failure, answer.request_id());
}

}  // namespace

void GatherBody(const std::shared_ptr<Answer>& answer, std::chrono::milliseconds wait_max,
                std::function<void()> then) {
  answer->exchange().Gather(wait_max, [answer, then = std::move(then)](net::Gathered how) {
    switch (how) {
      case net::Gathered::kWhole:
        then();
        return;
      case net::Gathered::kNoRoom:
        answer->Send(Unavailable("too many bytes of requests are held; nothing was charged"));
        return;
      case net::Gathered::kBroken:  // the server has said so; this one is counted
        answer->Send(ErrorReply(408, "request_timeout", "the body did not come"));
        return;
    }
  });
}

// A fault is ours to mend; the rest is the database's state, which readiness tells as well. The
// route's pattern is told, as a path may name a person.
void LogFailure(const Answer& answer, const store::Failure& failure) {
  const base::Logger::Fields fields = {{"request_id", answer.request_id()},
                                       {"method", answer.request().method},
                                       {"route", answer.pattern()},
                                       {"error", failure.message}};
  const base::Logger& log = answer.port().log;
  using Kind = store::Failure::Kind;
  switch (failure.kind) {
    case Kind::kUnavailable:
      log.Warn("the database is unavailable", fields);
      return;
    case Kind::kCommitUnknown:
      log.Warn("a commit's outcome is unknown", fields);
      return;
    case Kind::kContention:
    case Kind::kOverloaded:
      log.Warn("a request gave way to others", fields);
      return;
    case Kind::kFault:
      log.Error("a request failed", fields);
      return;
  }
}

Reply CurrentFailureReply(const Answer& answer) {
  const store::Failure failure = store::CurrentFailure();
  LogFailure(answer, failure);
  return FailureReply(failure, answer.request_id());
}

void ServeHere(const std::shared_ptr<Answer>& answer, const std::function<Handled()>& handler,
               const FailureHandler& failed) {
  Handled handled = Parked{};
  try {
    handled = handler();
  } catch (const Refusal& refusal) {
    handled = refusal.reply();
  } catch (...) {
    const store::Failure failure = store::CurrentFailure();
    LogFailure(*answer, failure);
    handled = ReplyTo(failure, *answer, failed);
  }
  if (auto* reply = std::get_if<Reply>(&handled)) answer->Send(std::move(*reply));
}

void Serve(store::Pool& pool, const std::optional<base::Uuid>& turn,
           const std::shared_ptr<Answer>& answer, PoolHandler handler, FailureHandler failed) {
  store::Pool::Job job = [answer, handler = std::move(handler), failed](store::Session& session) {
    ServeHere(
        answer, [&] { return handler(session); }, failed);
  };
  const bool queued = turn ? pool.Post(*turn, std::move(job)) : pool.Post(std::move(job));
  if (queued) return;
  // Not logged: an overloaded process must not write a line for every request that it refuses.
  answer->Send(ReplyTo({store::Failure::Kind::kOverloaded, "the queue is full"}, *answer, failed));
}

}  // namespace vedette::rest
