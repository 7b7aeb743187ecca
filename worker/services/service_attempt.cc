#include "worker/services/service_attempt.h"

#include <utility>

#include "base/assert.h"
#include "pages/http_failure.h"

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
  if (!waited) return End(pages::OverloadedFailure());
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

}  // namespace vedette::worker
