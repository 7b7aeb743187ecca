#pragma once

#include <memory>
#include <string_view>

#include "admin/service_state.h"
#include "admin/tenant_api.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "rest/key_fetcher.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::admin {

// The operator's port (admin/routes.cc lists what it serves): health and metrics for machines, the
// console for people, and under /admin/v1/ what the console and `vedette ctl` are made of.
// Everything there wants one of [admin.tokens], before a body is taken; the token's name is the
// audit's actor.
//
// What needs no database is answered on the server's thread, also while the pool is busy or the
// database away; the rest runs on the pool. Everything given to the constructor must outlive this
// object, and this object the server and the pool's last job.
class Admin final : public net::HttpService {
 public:
  Admin(const config::Config& config, store::Pool& pool, store::Signals& signals,
        const base::Clock& clock, metrics::Metrics& metrics, ServiceState& state,
        const domain::search::Catalogue& fields, rest::KeyFetcher& key_fetcher,
        const base::Logger& log,
        TenantApi* tenant_api = nullptr);  // null: this process has no public API
  ~Admin() override;

  void Handle(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::admin
