#include "worker/services/service_attempt.h"

#include <utility>

#include "base/assert.h"
#include "pages/http_failure.h"

namespace vedette::worker {

using std::chrono::milliseconds;

ServiceAttempt::ServiceAttempt(const ServiceMeans& means, AttemptTerms terms)
    : means_(means),
      terms_(std::move(terms)),
      time_(means.clock.SinceBoot(), terms_.timeout),
      room_(std::in_place, means.loop, means.budgets.questions, terms_.org_id) {}

void ServiceAttempt::Send(std::function<net::HttpRequest()> make,
                          std::function<void(Answer)> done) {
  base::Assert(done_ == nullptr, "one request of an attempt is under way at a time");
  make_ = std::move(make);
  done_ = std::move(done);
  Post();
}

void ServiceAttempt::Post() {
  net::HttpRequest request = make_();
  if (room_ && !room_->Take(request.body.size(), terms_.room_wait_max,
                            [this](std::optional<milliseconds> waited) { OnRoom(waited); })) {
    return;
  }
  if (!terms_.api_key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + terms_.api_key);
  }
  request.trust = net::Trust::kOperator;
  request.org = terms_.org_id;
  request.timeout = time_.Timeout(means_.clock.SinceBoot());
  request.wait_max = terms_.turn_wait_max;
  request.on_turn = live_.Guard([this](milliseconds waited) { return OnTurn(waited); });
  request.budget = &means_.budgets.answers;
  request.body_bytes_max = terms_.body_bytes_max;
  means_.client.Send(std::move(request),
                     live_.Guard([this](net::HttpResponse response) { End(std::move(response)); }));
}

void ServiceAttempt::OnRoom(std::optional<milliseconds> waited) {
  if (!waited) return End(pages::OverloadedFailure());
  if (WaitsApart()) time_.WaitedForRoom(*waited);
  Post();
}

bool ServiceAttempt::OnTurn(milliseconds waited) {
  const milliseconds all = WaitsApart() ? time_.WaitedForTurn(waited) : waited;
  return !terms_.on_turn || terms_.on_turn(all);
}

// The last thing of every path: it may destroy this object.
void ServiceAttempt::End(Answer answer) {
  std::exchange(done_, nullptr)(std::move(answer));
}

}  // namespace vedette::worker
