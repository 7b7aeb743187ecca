#include "app/oidc_keys.h"

#include <optional>
#include <utility>

#include "config/auth_config.h"
#include "config/parts.h"
#include "domain/auth/jwk_set.h"

namespace vedette::app {
namespace {

base::Timestamp Moment(const base::Clock& clock) {
  return base::Timestamp(std::chrono::duration_cast<std::chrono::microseconds>(clock.SinceBoot()));
}

// Why an answer is none that can be read.
std::optional<domain::JwtFault> FaultOf(const net::HttpResponse& response) {
  if (response.error_class != net::HttpErrorClass::kNone) return domain::JwtFault{response.error};
  if (response.status == 200) return std::nullopt;
  return domain::JwtFault{"the answer is a " + std::to_string(response.status) + ", no 200"};
}

}  // namespace

OidcKeys::OidcKeys(base::EventLoop& loop, Ask ask, const base::Clock& clock,
                   metrics::Metrics& metrics, const config::Config& config, base::Logger log, Of of)
    : loop_(loop),
      ask_(std::move(ask)),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      of_(of),
      issuer_(of == Of::kConsole ? config.admin_oidc.issuer : config.oidc.issuer),
      timer_(loop, [this] { Look(); }) {}

void OidcKeys::Start() {
  if (issuer_.empty()) return;
  started_at_ = Moment(clock_);
  timer_.Start(std::chrono::milliseconds(0), config_.jwks.retry_ms);
}

rest::ProviderKeys::View OidcKeys::Now() const {
  const std::lock_guard lock(mutex_);
  return {keys_, cache_, Moment(clock_), endpoints_};
}

void OidcKeys::Fetch(std::function<void()> then) {
  loop_.Post([this, then = std::move(then)]() mutable { Join(std::move(then)); });
}

// Once every jwks_retry_ms, so that keys are fetched again before they are no longer fresh.
void OidcKeys::Look() {
  const View view = Now();
  const config::JwksConfig& jwks = config_.jwks;
  const bool due = !view.keys || view.now - view.cache.fetched_at + jwks.retry_ms >= jwks.fresh_ms;
  if (due && !view.cache.under_way) Begin();
  ShowAge();
}

void OidcKeys::Join(std::function<void()> then) {
  const View view = Now();
  const auto& tried_at = view.cache.tried_at;
  const bool may_fetch = !tried_at || view.now - *tried_at >= config_.jwks.retry_ms;
  if (!view.cache.under_way && !may_fetch) {
    then();
    return;
  }
  waiting_.push_back(std::move(then));
  if (!view.cache.under_way) Begin();
}

void OidcKeys::Redeem(std::string form, std::function<void(Redeemed)> done) {
  loop_.Post([this, form = std::move(form), done = std::move(done)] {
    const View view = Now();
    if (!view.endpoints) return done({{}, "the provider has no token endpoint"});
    ask_(view.endpoints->token, form, [done](const net::HttpResponse& response) {
      auto fault = FaultOf(response);
      done(fault ? Redeemed{{}, std::move(fault->reason)} : Redeemed{response.body, {}});
    });
  });
}

void OidcKeys::Begin() {
  {
    const std::lock_guard lock(mutex_);
    cache_.tried_at = Moment(clock_);
    cache_.under_way = true;
  }
  ask_(domain::DiscoveryUrl(issuer_), {},
       [this](const net::HttpResponse& response) { ReadDocument(response); });
}

void OidcKeys::ReadDocument(const net::HttpResponse& response) {
  if (auto fault = FaultOf(response)) {
    End(std::move(*fault));
    return;
  }
  auto url = domain::ReadDiscovery(response.body, issuer_);
  if (auto* fault = std::get_if<domain::JwtFault>(&url)) {
    End(std::move(*fault));
    return;
  }
  if (auto endpoints = domain::ReadSignInEndpoints(response.body, issuer_)) {
    const std::lock_guard lock(mutex_);
    endpoints_ = std::make_shared<const domain::SignInEndpoints>(std::move(*endpoints));
  }
  ask_(std::get<std::string>(url), {}, [this](const net::HttpResponse& keys) {
    if (auto fault = FaultOf(keys)) {
      End(std::move(*fault));
      return;
    }
    auto read = domain::ReadJwks(keys.body, config_.jwks.keys_max);
    if (auto* fault = std::get_if<domain::JwtFault>(&read)) {
      End(std::move(*fault));
      return;
    }
    auto usable = domain::UsableKeys(std::get<std::vector<domain::JwkReport>>(read));
    if (usable.empty()) {
      End(domain::NoUsableKey());
    } else {
      End(std::move(usable));
    }
  });
}

void OidcKeys::End(Outcome outcome) {
  auto* keys = std::get_if<std::vector<domain::SetKey>>(&outcome);
  if (keys != nullptr) {
    log_.Info("fetched the identity provider's keys", {{"usable", keys->size()}});
  } else {
    log_.Warn("the identity provider's keys could not be fetched",
              {{"error", std::get<domain::JwtFault>(outcome).reason}});
  }
  metrics_.AddJwksFetch(of_ == Of::kConsole ? "console" : "provider",
                        keys != nullptr ? "ok" : "failed");
  {
    const std::lock_guard lock(mutex_);
    cache_.under_way = false;
    if (keys != nullptr) {
      keys_ = std::make_shared<const std::vector<domain::SetKey>>(std::move(*keys));
      cache_.has_keys = true;
      cache_.fetched_at = Moment(clock_);
    }
  }
  ShowAge();
  for (const auto& then : std::exchange(waiting_, {})) then();
}

void OidcKeys::ShowAge() {
  if (of_ == Of::kConsole) return;  // people see it when they sign in
  const View view = Now();
  metrics_.SetOidcKeysAge(view.now - (view.keys ? view.cache.fetched_at : started_at_));
}

}  // namespace vedette::app
