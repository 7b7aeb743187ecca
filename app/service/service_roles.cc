#include "app/service/service_roles.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/tenant/oauth/form.h"
#include "api/tenant/workflows/run_start.h"
#include "app/mail_check.h"
#include "app/service/role_parts.h"
#include "config/auth_config.h"
#include "config/delivery_config.h"
#include "config/lookup_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "config/search_config.h"
#include "config/server_config.h"
#include "html/selector.h"

namespace vedette::app {
namespace {

// A request that came through no socket, with its body whole. What is served so is answered at
// once, never in pieces.
class InnerExchange final : public net::Exchange {
 public:
  InnerExchange(net::ServerRequest request, admin::TenantApi::Done done)
      : request_(std::move(request)), done_(std::move(done)) {}

  const net::ServerRequest& request() const override { return request_; }
  void DropBody() override { request_.body.clear(); }
  void Send(net::ServerResponse response) override {
    if (done_) std::exchange(done_, nullptr)(std::move(response));
  }
  void Begin(int, std::vector<std::pair<std::string, std::string>>) override {
    Send({500, {}, R"({"error":"internal","message":"this answer is too long for this port"})"});
  }
  void Write(std::string, std::function<void(bool)> then) override { then(false); }
  void End() override {}

 private:
  net::ServerRequest request_;
  admin::TenantApi::Done done_;  // empty once it has been called
};

// How an identity provider is asked. The client and the configuration must outlive it.
OidcKeys::Ask AskProviderBy(net::HttpClient& client, const config::Config& config) {
  return [&client, &config](const std::string& url, const std::string& form,
                            std::function<void(net::HttpResponse)> done) {
    net::HttpRequest request;
    request.url = url;
    request.headers = {{"Accept", "application/json"}};
    if (!form.empty()) {
      request.method = "POST";
      request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
      request.body = form;
    }
    request.trust = net::Trust::kOperator;
    request.timeout = config.jwks.timeout_ms;
    request.body_bytes_max = config.jwks.bytes_max;
    client.Send(std::move(request), std::move(done));
  };
}

}  // namespace

void LocalTenantApi::Call(Request request, Done done) {
  net::ServerRequest inner;
  inner.method = std::move(request.method);
  inner.target = request.path;
  inner.path = std::move(request.path);
  inner.query = std::move(request.query);
  inner.headers = {{"content-type", "application/json"}};
  inner.body = std::move(request.body);
  inner.remote_address = std::move(request.remote_address);
  api_.HandleFor(std::make_shared<InnerExchange>(std::move(inner), std::move(done)), request.org_id,
                 {std::move(request.actor), std::move(request.reason)});
}

AdminRole::AdminRole(const Core& core, store::Pool& pool, admin::ServiceState& state,
                     const domain::search::Catalogue& search_fields, rest::KeyFetcher& key_fetch,
                     api::Api* api, std::vector<config::CellPort> cells)
    : other_cells_(core.loop, core.config, std::move(cells)) {
  if (api != nullptr) tenant_api_ = std::make_unique<LocalTenantApi>(*api);
  if (!core.config.admin_oidc.issuer.empty()) {
    oidc_client_ = std::make_unique<net::HttpClient>(core.loop, core.config.net);
    oidc_keys_ = std::make_unique<OidcKeys>(core.loop, AskProviderBy(*oidc_client_, core.config),
                                            core.clock, core.metrics, core.config,
                                            core.log.For("oidc"), OidcKeys::Of::kConsole);
  }
  admin_ = std::make_unique<admin::Admin>(core.config, pool, core.signals, core.clock, core.metrics,
                                          state, search_fields, key_fetch, core.log.For("admin"),
                                          tenant_api_.get(), oidc_keys_.get(),
                                          other_cells_.empty() ? nullptr : &other_cells_);
  server_ = std::make_unique<net::HttpServer>(core.config.admin, *admin_, core.log.For("admin"));
}

void AdminRole::Start() {
  if (oidc_keys_) oidc_keys_->Start();
}

void AdminRole::Stop() {
  admin_->EndStreams();
  server_->Stop();
}

HealthListener::HealthListener(const Core& core, admin::ServiceState& state) {
  config::HttpServerConfig health = core.config.admin;
  health.listen = core.config.health.listen;
  port_ = std::make_unique<admin::HealthPort>(state, core.metrics);
  server_ = std::make_unique<net::HttpServer>(health, *port_, core.log.For("health"));
}

ApiRole::ApiRole(const Core& core, Pools& pools, ProbeSet& probes, rest::KeyFetcher& key_fetch,
                 const domain::search::Catalogue& search_fields, GatedService::Ready ready)
    : loop_(core.loop), config_(core.config) {
  const base::Logger log = core.log.For("api");
  webhook_test_ = std::make_unique<WebhookTest>(loop_, *pools.api, core.clock, config_,
                                                core.log.For("delivery"));
  preview_ = std::make_unique<MonitorPreview>(loop_, probes, core.clock, config_);
  waits_ = std::make_unique<api::Waits>(loop_, *pools.api, core.clock, core.metrics, config_, log);
  core.signals.Listen(store::Signal::kJob, [this] { loop_.Post([this] { waits_->Look(); }); });
  oidc_client_ = std::make_unique<net::HttpClient>(loop_, config_.net);
  oidc_keys_ = std::make_unique<OidcKeys>(loop_, AskProviderBy(*oidc_client_, config_), core.clock,
                                          core.metrics, config_, core.log.For("oidc"));
  if (const auto note = api::IssuerNote(config_); !note.empty()) log.Warn(note, {});
  if (config_.search.backend == "opensearch") {
    search_engine_ = std::make_unique<SearchEngineClient>(
        loop_, probes.service_budgets().answers, core.metrics, config_, core.log.For("search"));
  }
  const api::SearchDependencies search{search_fields, pools.search.get(), search_engine_.get()};
  const api::Outgoing outgoing{*webhook_test_, *preview_, key_fetch, *oidc_keys_, search};
  api_ = std::make_unique<api::Api>(config_, *pools.api, core.signals, core.clock, core.metrics,
                                    core.policy, outgoing, *waits_, html::SelectorFault, log);
  gated_api_ = std::make_unique<GatedService>(*api_, std::move(ready));
  server_ = std::make_unique<net::HttpServer>(config_.api, *gated_api_, log);
}

void ApiRole::Stop() {
  waits_->Drain();
  server_->Stop();
}

namespace {

// What the cheapest check that costs anything costs; where none does, the least there is.
std::int64_t CheapestCheck(const config::Config& config) {
  std::int64_t cheapest = 0;
  for (const auto& [tier, price_mc] : config.prices_mc) {
    if (price_mc > 0 && (cheapest == 0 || price_mc < cheapest)) cheapest = price_mc;
  }
  return cheapest > 0 ? cheapest : 1;
}

}  // namespace

SchedulerRole::SchedulerRole(const Core& core, store::Pool& pool) : loop_(core.loop) {
  ticker_ = std::make_unique<scheduler::Scheduler>(
      loop_, pool, core.signals, core.clock, core.metrics, core.config, core.log.For("scheduler"));
  maintenance_ = std::make_unique<scheduler::Maintenance>(loop_, pool, core.metrics, core.config,
                                                          core.log.For("maintenance"));
  importer_ = std::make_unique<scheduler::Importer>(loop_, pool, core.signals, core.clock,
                                                    core.config, core.log.For("importer"));
  digests_ = std::make_unique<scheduler::Digests>(
      loop_, pool, core.signals, core.clock, CheapestCheck(core.config), core.log.For("digests"));
  job_keeper_ = std::make_unique<scheduler::JobKeeper>(
      loop_, pool, core.signals, core.clock, core.metrics, core.config, core.log.For("jobs"));
  const auto start = [&config = core.config, &policy = core.policy, &clock = core.clock](
                         store::Session& session, const store::DueSchedule& due,
                         const store::SlotTaken& slot) {
    return api::StartSlot(config, policy, clock, session, due, slot);
  };
  workflows_ = std::make_unique<scheduler::WorkflowScheduler>(
      loop_, pool, core.signals, core.metrics, core.config, start, core.log.For("scheduler"));
  core.signals.Listen(store::Signal::kDue, [this] {
    loop_.Post([this] {
      ticker_->Wake();
      workflows_->Wake();
      importer_->Wake();
    });
  });
}

void SchedulerRole::Start() {
  ticker_->Start();
  importer_->Start();
  digests_->Start();
  maintenance_->Start();
  job_keeper_->Start();
  workflows_->Start();
}

void SchedulerRole::AddParts(std::vector<DrainedPart>* parts) const {
  AddPart("scheduler", ticker_.get(), parts);
  AddPart("importer", importer_.get(), parts);
  AddPart("digests", digests_.get(), parts);
  AddPart("maintenance", maintenance_.get(), parts);
  AddPart("job_keeper", job_keeper_.get(), parts);
  AddPart("workflows", workflows_.get(), parts);
}

WorkerRole::WorkerRole(const Core& core, const Duties& duties, Pools& pools, ProbeSet& probes,
                       worker::NotificationSink* sink)
    : loop_(core.loop) {
  if (duties.checks()) BuildChecks(core, *pools.worker, probes, sink);
  if (!duties.job_lanes().empty()) BuildJobs(core, *pools.jobs, probes);
  const config::SmtpConfig& smtp = core.config.smtp;
  const bool examines = !smtp.doctor_domains.empty() || !smtp.doctor_lists.empty();
  if (examines && duties.job_lanes().contains(domain::Lane::kSmtp)) {
    mail_watch_ = std::make_unique<MailWatch>(
        loop_, core.metrics, core.log.For("email"),
        [&config = core.config, &clock = core.clock] { return ExamineMail(config, clock); });
  }
}

void WorkerRole::BuildChecks(const Core& core, store::Pool& pool, ProbeSet& probes,
                             worker::NotificationSink* sink) {
  checks_ = std::make_unique<worker::CheckPipeline>(loop_, pool, core.signals, core.clock,
                                                    core.metrics, core.config, probes.tiers(),
                                                    suspect_slot_, sink, core.log.For("worker"));
  core.signals.Listen(store::Signal::kChunk, [this] { loop_.Post([this] { checks_->Wake(); }); });
}

void WorkerRole::BuildJobs(const Core& core, store::Pool& pool, ProbeSet& probes) {
  worker::TierProbes tiers;
  for (const auto& [tier, probe] : probes.tiers()) {
    const std::string name(domain::TierName(tier));
    tiers[tier] = {probe.probe, probe.timeout, probe.deadline};
    if (!config::Renders(core.config.probes.at(name))) continue;
    tiers[tier].unrendered_mc = core.config.prices_mc.at(name);
  }
  row_blocks_ = std::make_unique<RowBlockSet>(
      loop_, core.clock, core.metrics, probes.service_client(), probes.service_budgets(),
      probes.sites(), pool, core.policy, core.config, tiers, core.log.For("lookups"));
  jobs_ = std::make_unique<worker::JobPipeline>(loop_, pool, core.signals, core.clock, core.metrics,
                                                core.config, row_blocks_->all(), suspect_slot_,
                                                core.log.For("jobs"));
  core.signals.Listen(store::Signal::kJobChunk, [this] { loop_.Post([this] { jobs_->Wake(); }); });
}

void WorkerRole::Start() {
  if (checks_) checks_->Start();
  if (jobs_) jobs_->Start();
  if (mail_watch_) mail_watch_->Start();
}

void WorkerRole::AddParts(std::vector<DrainedPart>* parts) const {
  AddPart("checks", checks_.get(), parts);
  AddPart("jobs", jobs_.get(), parts);
}

std::optional<std::string> WorkerRole::mail_seen() const {
  return mail_watch_ ? mail_watch_->seen() : std::nullopt;
}

std::optional<std::string> WorkerRole::AilingProviders() const {
  return row_blocks_ ? std::optional(row_blocks_->AilingProvidersJson()) : std::nullopt;
}

BrowserRole::BrowserRole(const Core& core, store::Pool& pool, net::Browser* browser)
    : loop_(core.loop) {
  const config::Config& config = core.config;
  if (const auto lack = net::Browser::Lack(config.browser, config.net); !lack.empty()) {
    throw std::runtime_error("--roles: the role browser renders pages, and cannot: " + lack);
  }
  if (browser == nullptr) {
    own_ = NewBrowser(loop_, core.metrics, config, core.policy, core.log.For("browser"));
    browser = own_.get();
  }
  server_ = std::make_unique<worker::RenderServer>(
      loop_, pool, core.signals, core.clock, config.browser, config.security, *browser,
      [browser] {
        const net::BrowserCounts counts = browser->counts();
        return counts.open + counts.waiting;
      },
      config.worker.drain_timeout_ms, core.log.For("browser"));
  core.signals.Listen(store::Signal::kRender, [this] { loop_.Post([this] { server_->Wake(); }); });
}

void BrowserRole::Start() {
  server_->Start();
}

void BrowserRole::AddParts(std::vector<DrainedPart>* parts) const {
  AddPart("browser", server_.get(), parts);
}

namespace {

// The worker's way to the deliverer of the same process.
class DelivererSink final : public worker::NotificationSink {
 public:
  explicit DelivererSink(delivery::Deliverer& deliverer) : deliverer_(deliverer) {}
  std::optional<base::Uuid> Reserve(const base::Uuid& org_id,
                                    const base::Uuid& endpoint_id) override {
    return deliverer_.Reserve(org_id, endpoint_id);
  }
  void Take(domain::Notification notification, const base::Uuid& lease_token) override {
    deliverer_.Take(std::move(notification), lease_token);
  }
  void Cancel(const base::Uuid& endpoint_id) override { deliverer_.CancelReserved(endpoint_id); }

 private:
  delivery::Deliverer& deliverer_;
};

}  // namespace

DeliveryRole::DeliveryRole(const Core& core, store::Pool& pool) : loop_(core.loop) {
  config::NetConfig connections = core.config.net;  // as many as the deliverer may have under way
  connections.connections_max =
      core.config.delivery.in_flight_max + core.config.delivery.slow_in_flight_max;
  client_ = std::make_unique<net::HttpClient>(loop_, connections);
  deliverer_ = std::make_unique<delivery::Deliverer>(
      loop_, pool, *client_, core.clock, core.metrics, core.config, core.log.For("delivery"));
  sink_ = std::make_unique<DelivererSink>(*deliverer_);
  core.signals.Listen(store::Signal::kDelivery,
                      [this] { loop_.Post([this] { deliverer_->Wake(); }); });
}

void DeliveryRole::Start() {
  deliverer_->Start();
}

void DeliveryRole::AddParts(std::vector<DrainedPart>* parts) const {
  AddPart("deliveries", deliverer_.get(), parts);
}

}  // namespace vedette::app
