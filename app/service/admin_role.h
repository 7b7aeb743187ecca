#pragma once

#include <memory>
#include <string>

#include "admin/admin.h"
#include "api/api.h"
#include "app/service/core.h"
#include "app/tenant_desk.h"
#include "domain/search/fields.h"
#include "net/http_server.h"
#include "rest/published_keys.h"
#include "store/session.h"

namespace vedette::app {

// The role that serves the operator's port, which is bound when it is built. Everything handed in
// must outlive it.
class AdminRole {
 public:
  // `api`: the public API of the same process, or null.
  AdminRole(const Core& core, store::Pool& pool, admin::ServiceState& state,
            const domain::search::Catalogue& search_fields, rest::KeyFetcher& key_fetch,
            api::Api* api);

  void Serve() { server_->Start(); }
  void Stop() { server_->Stop(); }  // blocks
  std::string address() const { return server_->address(); }

 private:
  std::unique_ptr<LocalTenantApi> tenant_api_;  // null: this process has no public API
  std::unique_ptr<admin::Admin> admin_;
  std::unique_ptr<net::HttpServer> server_;
};

// Health and metrics on a port of their own ([health] listen), whatever the roles are. The port is
// bound when it is built; everything handed in must outlive it.
class HealthListener {
 public:
  HealthListener(const Core& core, admin::ServiceState& state);

  void Serve() { server_->Start(); }
  void Stop() { server_->Stop(); }  // blocks
  std::string address() const { return server_->address(); }

 private:
  std::unique_ptr<admin::HealthPort> port_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace vedette::app
