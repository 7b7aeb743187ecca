#pragma once

#include <memory>
#include <string>

#include "api/api.h"
#include "api/jobs/waits.h"
#include "app/gated_service.h"
#include "app/monitor_preview.h"
#include "app/oidc_keys.h"
#include "app/probe_set.h"
#include "app/search_engine_client.h"
#include "app/service/core.h"
#include "app/service/pools.h"
#include "app/webhook_test.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "rest/published_keys.h"

namespace vedette::app {

// The role that serves the public API. Its port is bound when it is built; it is built and
// destroyed while the loop does not run, and everything handed in must outlive it.
class ApiRole {
 public:
  // `key_fetch` must only outlive the last request: what it holds back may refer to the API, so it
  // is destroyed first. `ready` says whether the process may answer at all; any thread.
  ApiRole(const Core& core, Pools& pools, ProbeSet& probes, rest::KeyFetcher& key_fetch,
          const domain::search::Catalogue& search_fields, GatedService::Ready ready);

  void Start() { oidc_keys_->Start(); }  // loop thread
  void Serve() { server_->Start(); }
  // Ends the requests that wait, then all others. Blocks; not on the loop thread.
  void Stop();

  api::Api& public_api() { return *api_; }
  std::string address() const { return server_->address(); }

 private:
  void BuildKeys(const Core& core);

  base::EventLoop& loop_;
  const config::Config& config_;
  std::unique_ptr<WebhookTest> webhook_test_;
  std::unique_ptr<MonitorPreview> preview_;
  std::unique_ptr<api::Api> api_;
  // Destroyed before the API, whose answers they may hold.
  std::unique_ptr<api::Waits> waits_;
  std::unique_ptr<net::HttpClient> oidc_client_;
  std::unique_ptr<OidcKeys> oidc_keys_;
  std::unique_ptr<SearchEngineClient> search_engine_;  // null: the API asks none
  std::unique_ptr<GatedService> gated_api_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace vedette::app
