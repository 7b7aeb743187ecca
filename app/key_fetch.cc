#include "app/key_fetch.h"

#include <fmt/format.h>

#include <utility>

#include "config/config.h"

namespace vedette::app {
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
