#include "app/key_fetch.h"

#include <fmt/format.h>

#include <utility>

namespace vedette::app {
namespace {

config::NetConfig OwnConnections(const config::Config& config) {
  config::NetConfig net = config.net;
  net.connections_max = config.jwks.fetches_max;
  return net;
}

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
    : loop_(loop),
      metrics_(metrics),
      config_(config.jwks),
      client_(loop, OwnConnections(config)),
      under_way_(static_cast<std::size_t>(config.jwks.fetches_max), base::kUsualReserve) {}

void KeyFetch::Fetch(const base::Uuid& org_id, std::string url, Done done) {
  loop_.Post([this, org_id, url = std::move(url), done = std::move(done)]() mutable {
    Start(org_id, std::move(url), done);
  });
}

void KeyFetch::Start(const base::Uuid& org_id, std::string url, const Done& done) {
  if (!under_way_.MayTake(org_id)) {
    done({Outcome::Kind::kBusy, "too many fetches of keys are under way"});
    return;
  }
  under_way_.Take(org_id);
  net::HttpRequest request;
  request.url = std::move(url);
  request.headers = {{"Accept", "application/jwk-set+json, application/json"}};
  request.trust = net::Trust::kTenant;
  request.org = org_id;
  request.timeout = config_.timeout_ms;
  request.body_bytes_max = config_.bytes_max;
  client_.Send(std::move(request), [this, org_id, done](net::HttpResponse response) {
    under_way_.GiveBack(org_id);
    Outcome outcome = OutcomeOf(std::move(response));
    metrics_.AddJwksFetch("client", outcome.kind == Outcome::Kind::kCame ? "ok" : "failed");
    done(std::move(outcome));
  });
}

}  // namespace vedette::app
