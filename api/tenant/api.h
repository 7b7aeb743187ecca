#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/kit/published_keys.h"
#include "api/tenant/jobs/waits.h"
#include "api/tenant/outgoing.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::api {

// What the API asks of the outside, built by app.
struct Outgoing {
  WebhookTester& webhook_tester;
  Previewer& previewer;
  rest::KeyFetcher& key_fetcher;
  ProviderKeys& provider_keys;
  SearchDependencies search;
};

// An operator who asks for an organisation, and the reason that is given; the audit has both.
struct Operator {
  std::string name;
  std::optional<std::string> reason;
};

// How the audit names an operator who acts for an organisation: this and the name, as the principal
// that the name makes, which no caller of the API is.
inline constexpr std::string_view kOperatorActor = "operator ";
base::Uuid OperatorPrincipal(std::string_view name);
// Whether this actor, with its principal, is one.
bool IsOperator(std::string_view actor, const std::optional<base::Uuid>& principal_id);

// The public HTTP API. Routes on the server's thread and hands each request, as plain blocking
// code, to the pool, in the turn of its organisation. Route, key, rate and organisation are checked
// before a body is taken. Everything handed in must outlive this object; stop the server before the
// pool, and the pool before destroying the API.
class Api final : public net::HttpService {
 public:
  Api(const config::Config& config, store::Pool& pool, store::Signals& signals,
      const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
      const Outgoing& outgoing, Waits& waits, SelectorFault selector_fault, base::Logger log);
  ~Api() override;

  void Handle(std::shared_ptr<net::Exchange> exchange) override;
  // A request that the operator makes for an organisation, with its whole body: it shows no
  // credential, counts against no rate, and is validated like any other of that organisation's.
  void HandleFor(std::shared_ptr<net::Exchange> exchange, const base::Uuid& org_id,
                 const Operator& by);
  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::api
