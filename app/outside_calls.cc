#include "app/outside_calls.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "config/config.h"

namespace vedette::app {
namespace {

config::NetConfig OwnConnections(config::NetConfig net, int calls_max) {
  net.connections_max = calls_max;
  return net;
}

}  // namespace

OutsideCalls::OutsideCalls(base::EventLoop& loop, config::NetConfig net, int calls_max)
    : loop_(loop),
      client_(loop, OwnConnections(std::move(net), calls_max)),
      under_way_(static_cast<std::size_t>(calls_max), base::kUsualReserve) {}

void OutsideCalls::Begin(const base::Uuid& org_id, std::function<void(Place)> begin) {
  loop_.Post([this, org_id, begin = std::move(begin)] { begin(Take(org_id)); });
}

OutsideCalls::Place OutsideCalls::Take(const base::Uuid& org_id) {
  if (!under_way_.MayTake(org_id)) {
    return under_way_.held_by(org_id) == 0 ? Place::kAllTaken : Place::kOrganisationsTaken;
  }
  under_way_.Take(org_id);
  return Place::kTaken;
}

void OutsideCalls::End(const base::Uuid& org_id) {
  under_way_.GiveBack(org_id);
}

namespace {

using Outcome = rest::KeyFetcher::Outcome;

Outcome OutcomeOf(net::HttpResponse response) {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return {Outcome::Kind::kFailed,
            fmt::format("{}: {}", HttpErrorClassName(response.error_class), response.error)};
  }
  if (response.status != 200) {
    return {Outcome::Kind::kFailed, fmt::format("the answer is a {}, no 200", response.status)};
  }
  return {Outcome::Kind::kCame, std::move(response.body)};
}

}  // namespace

KeyFetch::KeyFetch(base::EventLoop& loop, metrics::Metrics& metrics, const config::Config& config)
    : metrics_(metrics), config_(config.jwks), calls_(loop, config.net, config.jwks.fetches_max) {}

void KeyFetch::Fetch(const base::Uuid& org_id, std::string url, Done done) {
  calls_.Begin(org_id, [this, org_id, url = std::move(url),
                        done = std::move(done)](OutsideCalls::Place place) {
    if (place == OutsideCalls::Place::kTaken) return Start(org_id, url, done);
    done({Outcome::Kind::kBusy, "too many fetches of keys are under way"});
  });
}

void KeyFetch::Start(const base::Uuid& org_id, const std::string& url, const Done& done) {
  net::HttpRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/jwk-set+json, application/json"}};
  request.trust = net::Trust::kTenant;
  request.org = org_id;
  request.timeout = config_.timeout_ms;
  request.body_bytes_max = config_.bytes_max;
  calls_.client().Send(std::move(request), [this, org_id, done](net::HttpResponse response) {
    calls_.End(org_id);
    Outcome outcome = OutcomeOf(std::move(response));
    metrics_.AddJwksFetch("client", outcome.kind == Outcome::Kind::kCame ? "ok" : "failed");
    done(std::move(outcome));
  });
}

}  // namespace vedette::app
