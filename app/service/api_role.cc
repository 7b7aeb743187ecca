#include "app/service/api_role.h"

#include <functional>
#include <utility>

#include "api/oauth/form.h"
#include "config/config.h"
#include "pages/selector.h"

namespace vedette::app {

ApiRole::ApiRole(const Core& core, Pools& pools, ProbeSet& probes, rest::KeyFetcher& key_fetch,
                 const domain::search::Catalogue& search_fields, GatedService::Ready ready)
    : loop_(core.loop), config_(core.config) {
  const base::Logger log = core.log.For("api");
  webhook_test_ = std::make_unique<WebhookTest>(loop_, *pools.api, core.clock, config_,
                                                core.log.For("delivery"));
  preview_ = std::make_unique<MonitorPreview>(loop_, probes, core.clock, config_);
  waits_ = std::make_unique<api::Waits>(loop_, *pools.api, core.clock, core.metrics, config_, log);
  core.signals.Listen(store::Signal::kJob, [this] { loop_.Post([this] { waits_->Look(); }); });
  BuildKeys(core);
  if (const auto note = api::IssuerNote(config_); !note.empty()) log.Warn(note, {});
  if (config_.search.backend == "opensearch") {
    search_engine_ = std::make_unique<SearchEngineClient>(
        loop_, probes.service_budgets().answers, core.metrics, config_, core.log.For("search"));
  }
  const api::SearchParts search{search_fields, pools.search.get(), search_engine_.get()};
  const api::Outgoing outgoing{*webhook_test_, *preview_, key_fetch, *oidc_keys_, search};
  api_ = std::make_unique<api::Api>(config_, *pools.api, core.signals, core.clock, core.metrics,
                                    core.policy, outgoing, *waits_, pages::SelectorFault, log);
  gated_api_ = std::make_unique<GatedService>(*api_, std::move(ready));
  server_ = std::make_unique<net::HttpServer>(config_.api, *gated_api_, log);
}

void ApiRole::BuildKeys(const Core& core) {
  oidc_client_ = std::make_unique<net::HttpClient>(loop_, config_.net);
  const auto get = [this](const std::string& url, std::function<void(net::HttpResponse)> done) {
    net::HttpRequest request;
    request.url = url;
    request.headers = {{"Accept", "application/json"}};
    request.trust = net::Trust::kOperator;
    request.timeout = config_.jwks.timeout_ms;
    request.body_bytes_max = config_.jwks.bytes_max;
    oidc_client_->Send(std::move(request), std::move(done));
  };
  oidc_keys_ = std::make_unique<OidcKeys>(loop_, get, core.clock, core.metrics, config_,
                                          core.log.For("oidc"));
}

void ApiRole::Stop() {
  waits_->Drain();
  server_->Stop();
}

}  // namespace vedette::app
