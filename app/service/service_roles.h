#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/answer.h"
#include "api/kit/published_keys.h"
#include "api/kit/reply.h"
#include "api/operator/admin.h"
#include "api/tenant/api.h"
#include "api/tenant/jobs/waits.h"
#include "app/mail_check.h"
#include "app/monitor_trials.h"
#include "app/oidc_keys.h"
#include "app/outside_calls.h"
#include "app/probe_set.h"
#include "app/roles.h"
#include "app/row_block_set.h"
#include "app/search_engine_client.h"
#include "app/service/role_parts.h"
#include "config/config_fwd.h"
#include "delivery/deliverer.h"
#include "domain/search/fields.h"
#include "lease/suspect_slot.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "scheduler/digests.h"
#include "scheduler/job_keeper.h"
#include "scheduler/maintenance.h"
#include "scheduler/scheduler.h"
#include "scheduler/workflow_scheduler.h"
#include "store/fleet/fleet.h"
#include "store/session.h"
#include "worker/checks/check_pipeline.h"
#include "worker/checks/notification_sink.h"
#include "worker/jobs/job_pipeline.h"
#include "worker/rendering/render_server.h"

namespace vedette::app {

// The admin port's way to the public API of the same process. Any thread; `api` must outlive this
// object and every call.
class LocalTenantApi final : public admin::TenantApi {
 public:
  explicit LocalTenantApi(api::Api& api) : api_(api) {}
  void Call(Request request, Done done) override;

 private:
  api::Api& api_;
};

// The role that serves the operator's port, which is bound when it is built. Everything handed in
// must outlive it. Built and destroyed while the loop does not run.
class AdminRole {
 public:
  // `api`: the public API of the same process, or null. `cells`: as CellPorts has them.
  AdminRole(const Core& core, store::Pool& pool, admin::ServiceState& state,
            const domain::search::Catalogue& search_fields, rest::KeyFetcher& key_fetch,
            api::Api* api, std::vector<config::CellPort> cells);

  void Start();  // loop thread
  void Serve() { server_->Start(); }
  void Stop();  // blocks
  std::string address() const { return server_->address(); }

 private:
  std::unique_ptr<LocalTenantApi> tenant_api_;  // null: this process has no public API
  std::unique_ptr<admin::Admin> admin_;
  // Destroyed before the port, whose answers they may hold. Null: nobody signs in.
  std::unique_ptr<net::HttpClient> oidc_client_;
  std::unique_ptr<OidcKeys> oidc_keys_;
  CellPorts other_cells_;  // destroyed before the port, whose answers it may hold
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

// A service that answers 503 until the process is ready for it the first time: before the schema is
// there, no handler could do anything sensible.
class GatedService final : public net::HttpService {
 public:
  using Ready = std::function<bool()>;  // any thread

  GatedService(net::HttpService& inner, Ready ready) : inner_(inner), ready_(std::move(ready)) {}

  void Handle(std::shared_ptr<net::Exchange> exchange) override {
    if (ready_()) return inner_.Handle(std::move(exchange));
    // Why stands in the log and on the health port alone: a reason may name the database's host and
    // user, and anybody may ask here.
    const rest::Header id{"X-Request-Id", net::RequestIdOf(exchange->request())};
    exchange->Send(rest::ToResponse(
        rest::Unavailable("the service is starting: send the request again"), {id}));
  }

  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override {
    return inner_.BodyBytesMax(method, path);
  }

 private:
  net::HttpService& inner_;
  Ready ready_;
};

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
  void Leave() { server_->Leave(); }
  // Ends the requests that wait, then all others. Blocks; not on the loop thread.
  void Stop();

  api::Api& public_api() { return *api_; }
  std::string address() const { return server_->address(); }

 private:
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

// The role that opens ticks, starts workflows on a schedule, takes uploaded rows over, keeps jobs
// going and cleans up. Built and destroyed while the loop does not run; everything handed in must
// outlive it.
class SchedulerRole {
 public:
  SchedulerRole(const Core& core, store::Pool& pool);

  void Start();                                          // loop thread
  void AddParts(std::vector<DrainedPart>* parts) const;  // those that are drained

 private:
  base::EventLoop& loop_;
  std::unique_ptr<scheduler::Scheduler> ticker_;
  std::unique_ptr<scheduler::Importer> importer_;
  std::unique_ptr<scheduler::Digests> digests_;
  std::unique_ptr<scheduler::Maintenance> maintenance_;
  std::unique_ptr<scheduler::JobKeeper> job_keeper_;
  std::unique_ptr<scheduler::WorkflowScheduler> workflows_;
};

// The role that makes checks and works on jobs, as far as the lanes of the process go. Built and
// destroyed while the loop does not run; everything handed in must outlive it.
class WorkerRole {
 public:
  // `sink` may be null: then notifications are left to the processes that claim them.
  WorkerRole(const Core& core, const Duties& duties, Pools& pools, ProbeSet& probes,
             worker::NotificationSink* sink);

  void Start();                                          // loop thread
  void AddParts(std::vector<DrainedPart>* parts) const;  // those that are drained

  // What its doctor of mail found last; empty where there is none. Loop thread.
  std::optional<std::string> mail_seen() const;
  // The providers of lookups that fail here, as store::Member has them. Loop thread.
  std::optional<std::string> AilingProviders() const;

 private:
  void BuildChecks(const Core& core, store::Pool& pool, ProbeSet& probes,
                   worker::NotificationSink* sink);
  void BuildJobs(const Core& core, store::Pool& pool, ProbeSet& probes);

  base::EventLoop& loop_;
  lease::SuspectSlot suspect_slot_;  // the one of the process
  std::unique_ptr<worker::CheckPipeline> checks_;
  std::unique_ptr<RowBlockSet> row_blocks_;
  std::unique_ptr<worker::JobPipeline> jobs_;
  std::unique_ptr<MailWatch> mail_watch_;
};

// The role that renders pages for the rest of the fleet. Built and destroyed while the loop does
// not run; everything handed in must outlive it.
class BrowserRole {
 public:
  // `browser`: that of the probes of the same process, or null: then it has its own. Throws
  // std::runtime_error with a sentence where there can be none.
  BrowserRole(const Core& core, store::Pool& pool, net::Browser* browser);

  void Start();                                          // loop thread
  void AddParts(std::vector<DrainedPart>* parts) const;  // those that are drained

 private:
  base::EventLoop& loop_;
  std::unique_ptr<net::Browser> own_;
  std::unique_ptr<worker::RenderServer> server_;
};

// The role that sends notifications. Built and destroyed while the loop does not run; everything
// handed in must outlive it.
class DeliveryRole {
 public:
  DeliveryRole(const Core& core, store::Pool& pool);

  void Start();                                          // loop thread
  void AddParts(std::vector<DrainedPart>* parts) const;  // those that are drained

  // The way of the checks of the same process to the deliverer.
  worker::NotificationSink& sink() { return *sink_; }

 private:
  base::EventLoop& loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<delivery::Deliverer> deliverer_;
  std::unique_ptr<worker::NotificationSink> sink_;
};

}  // namespace vedette::app
