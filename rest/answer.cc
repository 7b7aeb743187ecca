#include "rest/answer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "rest/request_id.h"

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
      request_id_(RequestIdOf(exchange_->request())),
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

}  // namespace vedette::rest
