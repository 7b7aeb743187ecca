#include "app/service/admin_role.h"

#include "config/config.h"
#include "config/net_config.h"

namespace vedette::app {

AdminRole::AdminRole(const Core& core, store::Pool& pool, admin::ServiceState& state,
                     const domain::search::Catalogue& search_fields, rest::KeyFetcher& key_fetch,
                     api::Api* api) {
  if (api != nullptr) tenant_api_ = std::make_unique<LocalTenantApi>(*api);
  admin_ = std::make_unique<admin::Admin>(core.config, pool, core.signals, core.clock, core.metrics,
                                          state, search_fields, key_fetch, core.log.For("admin"),
                                          tenant_api_.get());
  server_ = std::make_unique<net::HttpServer>(core.config.admin, *admin_, core.log.For("admin"));
}

HealthListener::HealthListener(const Core& core, admin::ServiceState& state) {
  config::HttpServerConfig health = core.config.admin;
  health.listen = core.config.health.listen;
  port_ = std::make_unique<admin::HealthPort>(state, core.metrics);
  server_ = std::make_unique<net::HttpServer>(health, *port_, core.log.For("health"));
}

}  // namespace vedette::app
