#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/published_keys.h"
#include "api/kit/sign_in.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::admin {

class AuditStream;

// What the admin port has to know of, and may do to, the process it runs in. Implemented by app.
// All methods are safe on any thread and return at once.
class ServiceState {
 public:
  virtual ~ServiceState() = default;

  // Whether the process serves its roles now; otherwise `reasons` gets a sentence each.
  virtual bool Ready(std::vector<std::string>* reasons) const = 0;

  // Whether requests that need the database may be served: once its schema has been there. A
  // database that went away later is for each request to find.
  virtual bool MayAnswer() const = 0;

  // Begins the orderly end of the process, as SIGTERM does. Repeating it changes nothing.
  virtual void Drain() = 0;

  // Why this process renders no pages: a sentence without its full stop. Empty: it does.
  virtual std::string rendering_lack() const = 0;

  // The process's id in the fleet (`member`).
  virtual base::Uuid member_id() const = 0;
};

// The public API of this process, as the operator uses it for an organisation: what makes and
// changes a monitor is validated there, by the same rules as a client's request. Built by app,
// because the admin port must not include the API.
class TenantApi {
 public:
  struct Request {
    base::Uuid org_id;
    std::string actor;                  // the admin token's name
    std::optional<std::string> reason;  // for the audit
    std::string method;
    std::string path;
    std::string query;
    std::string body;  // JSON
    std::string remote_address;
  };
  using Done = std::function<void(net::ServerResponse)>;
  virtual ~TenantApi() = default;

  // Returns at once; `done` runs at most once, on any thread. It does not run where the process
  // stops before.
  virtual void Call(Request request, Done done) = 0;
};

// What another cell's admin port has answered.
struct CellAnswer {
  std::string cell;
  std::string url;    // of that port
  std::string body;   // of a 200
  std::string error;  // where there was none: a sentence
};

// The admin ports of the other cells (`serve --cells`). Each is asked with the token that the
// file has for it; of a request nothing is passed on but what it looks for. Built by app.
class OtherCells {
 public:
  using Done = std::function<void(std::vector<CellAnswer>)>;
  virtual ~OtherCells() = default;

  // GETs the path at each of them at once, with the parameter `q` where it is not empty. Returns at
  // once; `done` runs exactly once, on any thread, with an answer a cell, in the order of the file:
  // within seconds, since one that does not answer has failed by then.
  virtual void Ask(std::string path, std::string q, Done done) = 0;
};

// Health and metrics alone ([health] listen), for processes without the admin role and for networks
// that close the admin port. Everything handed in must outlive it. Answers on the server's thread.
class HealthPort final : public net::WholeBodyService {
 public:
  HealthPort(ServiceState& state, metrics::Metrics& metrics) : state_(state), metrics_(metrics) {}

  void HandleWhole(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override { return 0; }

 private:
  ServiceState& state_;
  metrics::Metrics& metrics_;
};

// The operator's port (api/operator/routes.cc lists what it serves): health and metrics for
// machines, the console for people, and under /admin/v1/ what the console and `vedette ctl` are
// made of. Everything there wants one of [admin.tokens], or the session of one who has signed in by
// the provider of [admin.oidc], before a body is taken; the token's name, or the person's address,
// is the actor in the audit log.
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
        TenantApi* tenant_api = nullptr,              // null: this process has no public API
        rest::ProviderKeys* provider_keys = nullptr,  // of [admin.oidc]; null: nobody signs in
        OtherCells* other_cells = nullptr);           // null: it knows of none
  ~Admin() override;

  void Handle(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override;

  // Ends the answers that have no end of their own, those that follow the audit: before the server
  // is stopped, which waits for answers.
  void EndStreams();

 private:
  struct Impl;
  std::unique_ptr<AuditStream> audit_stream_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::admin
