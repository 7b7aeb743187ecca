#include "app/service.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "admin/admin.h"
#include "admin/health_port.h"
#include "admin/service_state.h"
#include "api/api.h"
#include "api/jobs/waits.h"
#include "api/oauth/issuer.h"
#include "app/gated_service.h"
#include "app/key_fetch.h"
#include "app/mail_watch.h"
#include "app/monitor_preview.h"
#include "app/oidc_keys.h"
#include "app/probe_set.h"
#include "app/row_block_set.h"
#include "app/search_engine_client.h"
#include "app/search_fields.h"
#include "app/secrets_watch.h"
#include "app/tenant_desk.h"
#include "app/webhook_test.h"
#include "base/event_loop.h"
#include "delivery/deliverer.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "pages/selector.h"
#include "scheduler/importer.h"
#include "scheduler/job_keeper.h"
#include "scheduler/maintenance.h"
#include "scheduler/scheduler.h"
#include "store/async.h"
#include "store/database_clock.h"
#include "store/fleet/fleet.h"
#include "store/migrate.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/checks/check_pipeline.h"
#include "worker/jobs/job_pipeline.h"
#include "worker/suspect_slot.h"

namespace vedette::app {
namespace {

// How often the database is looked at, and how often the member of the fleet says that it lives.
constexpr std::chrono::milliseconds kHealthEvery{1000};
constexpr std::chrono::milliseconds kHeartbeatEvery{5000};

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

std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

struct Service::Impl final : public admin::ServiceState {
  Impl(config::Config c, std::set<Role> r, const base::Clock& k, base::Logger l)
      : config(std::move(c)),
        roles(std::move(r)),
        clock(k),  // the database's, from the first look at it on, which precedes every part
        log(l),
        metrics(VEDETTE_VERSION),
        policy(config.net.allow),
        search_fields(LoadSearchFields(config.search)),
        id(base::Uuid::V7(clock)) {}

  bool Has(Role role) const { return roles.contains(role); }
  // Whether this process makes the checks of monitors.
  bool MakesChecks() const {
    const auto& lanes = config.worker.lanes;
    return Has(Role::kWorker) && std::find(lanes.begin(), lanes.end(), "checks") != lanes.end();
  }
  // The lanes of jobs that this process serves.
  std::set<domain::Lane> JobLanes() const {
    return Has(Role::kWorker) ? worker::ServedLanes(config) : std::set<domain::Lane>();
  }

  // admin::ServiceState
  bool Ready(std::vector<std::string>* reasons) const override {
    std::lock_guard lock(mutex);
    if (draining) reasons->push_back("the process is draining");
    if (!not_ready.empty()) reasons->push_back(not_ready);
    return reasons->empty();
  }
  void Drain() override { kill(getpid(), SIGTERM); }
  base::Uuid member_id() const override { return id; }

  void CheckConfig() const;
  void BuildPools();
  void BuildParts();
  void BuildWorker();
  void BuildScheduler();
  void BuildKeys();
  void BuildServers();
  void CheckHealth();
  void StartParts();
  void SetNotReady(std::string reason);
  template <typename... Parts>
  void DrainParts(Parts*... parts);
  store::Member Self(bool leaving) const;

  const config::Config config;
  const std::set<Role> roles;
  store::DatabaseClock clock;
  const base::Logger log;
  metrics::Metrics metrics;
  const net::AddressPolicy policy;
  const domain::search::Catalogue search_fields;
  const base::Uuid id;

  mutable std::mutex mutex;
  std::string not_ready = "starting";  // guarded by mutex; empty = ready
  bool draining = false;               // guarded by mutex
  std::string failure;                 // guarded by mutex; not empty: going on is pointless

  base::EventLoop loop;
  std::thread loop_thread;
  std::unique_ptr<store::Signals> signals;
  std::unique_ptr<store::Pool> fleet_pool;
  std::unique_ptr<store::Pool> api_pool;
  std::unique_ptr<store::Pool> search_pool;  // null: the API does not count in the database
  std::unique_ptr<store::Pool> admin_pool;
  std::unique_ptr<store::Pool> scheduler_pool;
  std::unique_ptr<store::Pool> worker_pool;
  std::unique_ptr<store::Pool> jobs_pool;
  std::unique_ptr<store::Pool> delivery_pool;

  // Everything from here to the servers lives on the loop.
  std::unique_ptr<net::HttpClient> delivery_client;
  std::unique_ptr<ProbeSet> probes;
  std::unique_ptr<delivery::Deliverer> deliverer;
  std::unique_ptr<DelivererSink> sink;
  worker::SuspectSlot suspect_slot;  // the one of the process
  std::unique_ptr<worker::CheckPipeline> check_pipeline;
  std::unique_ptr<RowBlockSet> row_blocks;
  std::unique_ptr<worker::JobPipeline> job_pipeline;
  std::unique_ptr<scheduler::Scheduler> ticker;
  std::unique_ptr<scheduler::Importer> importer;
  std::unique_ptr<scheduler::Maintenance> maintenance;
  std::unique_ptr<scheduler::JobKeeper> job_keeper;
  std::unique_ptr<WebhookTest> webhook_test;
  std::unique_ptr<MonitorPreview> preview;
  std::unique_ptr<SecretsWatch> secrets_watch;
  std::unique_ptr<MailWatch> mail_watch;
  std::unique_ptr<base::Timer> health_timer;
  bool checking_health = false;
  bool parts_started = false;
  std::chrono::nanoseconds heartbeat_at{0};

  std::unique_ptr<api::Api> api;
  // Destroyed before the API, whose answers they may hold.
  std::unique_ptr<api::Waits> waits;
  std::unique_ptr<net::HttpClient> oidc_client;
  std::unique_ptr<OidcKeys> oidc_keys;
  std::unique_ptr<KeyFetch> key_fetch;
  std::unique_ptr<SearchEngineClient> search_engine;  // null: the API asks none
  std::unique_ptr<GatedService> gated_api;
  std::unique_ptr<TenantDesk> tenant_desk;
  std::unique_ptr<admin::Admin> admin;
  std::unique_ptr<net::HttpServer> api_server;
  std::unique_ptr<net::HttpServer> admin_server;
  std::unique_ptr<admin::HealthPort> health_port;
  std::unique_ptr<net::HttpServer> health_server;
  bool stopped = false;
};

void Service::Impl::CheckConfig() const {
  const bool needs_key = Has(Role::kApi) || Has(Role::kAdmin) || Has(Role::kDelivery);
  if (needs_key && config.security.encryption_key.empty()) {
    throw std::runtime_error(
        "[security] encryption_key is not set: the roles api, admin and delivery need it. Make one "
        "with "
        "`openssl rand -hex 32` and give it as VEDETTE_SECURITY_ENCRYPTION_KEY or "
        "encryption_key_file; keep it, stored signing secrets cannot be read without it");
  }
  if (Has(Role::kAdmin) && config.admin_tokens.empty()) {
    throw std::runtime_error(
        "no admin token is set: the role admin needs one. Set VEDETTE_ADMIN_TOKEN, or name = "
        "\"token\" "
        "under [admin.tokens]");
  }
  if (config.database.url.empty()) {
    throw std::runtime_error(
        "[database] url is not set. Give it as VEDETTE_DATABASE_URL, for example "
        "postgresql://user@host/vedette");
  }
}

void Service::Impl::BuildPools() {
  const config::DatabaseConfig& db = config.database;
  const auto pool = [&](const char* name, int connections, bool keyed_plans) {
    return std::make_unique<store::Pool>(db,
                                         store::SessionOptions{name, keyed_plans, &config.testing},
                                         connections, clock, metrics, log.For("store"));
  };
  signals = std::make_unique<store::Signals>(db, clock, metrics, log.For("store"));
  fleet_pool = pool("fleet", 1, false);
  if (Has(Role::kApi)) api_pool = pool("api", db.api_connections, false);
  if (Has(Role::kApi) && config.search.backend == "postgres") {
    search_pool = pool("search", db.search_connections, false);
  }
  if (Has(Role::kAdmin)) admin_pool = pool("admin", db.admin_connections, false);
  if (Has(Role::kScheduler)) scheduler_pool = pool("scheduler", db.scheduler_connections, true);
  if (MakesChecks()) worker_pool = pool("worker", db.worker_connections, true);
  if (!JobLanes().empty()) jobs_pool = pool("jobs", db.jobs_connections, true);
  if (Has(Role::kDelivery)) delivery_pool = pool("delivery", db.delivery_connections, true);
}

void Service::Impl::BuildParts() {
  if (Has(Role::kDelivery)) {
    config::NetConfig delivery_net = config.net;  // as many as the deliverer may have under way
    delivery_net.connections_max =
        config.delivery.in_flight_max + config.delivery.slow_in_flight_max;
    delivery_client = std::make_unique<net::HttpClient>(loop, delivery_net);
    deliverer = std::make_unique<delivery::Deliverer>(loop, *delivery_pool, *delivery_client, clock,
                                                      metrics, config, log.For("delivery"));
    sink = std::make_unique<DelivererSink>(*deliverer);
    signals->Listen(store::Signal::kDelivery, [this] { loop.Post([this] { deliverer->Wake(); }); });
  }
  // Jobs ask services as probes do, and previews read pages as checks do, within the same memory.
  if (Has(Role::kWorker) || Has(Role::kApi)) {
    probes = std::make_unique<ProbeSet>(loop, clock, metrics, policy, config);
  }
  if (Has(Role::kWorker)) BuildWorker();
  if (Has(Role::kScheduler)) BuildScheduler();
  if (!config.security.encryption_key.empty()) {
    secrets_watch = std::make_unique<SecretsWatch>(loop, *fleet_pool, metrics, config.security,
                                                   log.For("service"));
  }
  health_timer = std::make_unique<base::Timer>(loop, [this] { CheckHealth(); });
}

void Service::Impl::BuildWorker() {
  if (MakesChecks()) {
    check_pipeline = std::make_unique<worker::CheckPipeline>(
        loop, *worker_pool, *signals, clock, metrics, config, probes->tiers(), suspect_slot,
        sink.get(), log.For("worker"));
    signals->Listen(store::Signal::kChunk,
                    [this] { loop.Post([this] { check_pipeline->Wake(); }); });
  }
  if (!JobLanes().empty()) {
    worker::TierProbes tiers;
    for (const auto& [tier, probe] : probes->tiers()) tiers[tier] = {probe.probe, probe.config};
    row_blocks = std::make_unique<RowBlockSet>(
        loop, clock, metrics, probes->service_client(), probes->service_budgets(), probes->sites(),
        *jobs_pool, policy, config, tiers, log.For("lookups"));
    job_pipeline =
        std::make_unique<worker::JobPipeline>(loop, *jobs_pool, *signals, clock, metrics, config,
                                              row_blocks->all(), suspect_slot, log.For("jobs"));
    signals->Listen(store::Signal::kJobChunk,
                    [this] { loop.Post([this] { job_pipeline->Wake(); }); });
  }
  const config::SmtpConfig& smtp = config.smtp;
  const bool examines = !smtp.doctor_domains.empty() || !smtp.doctor_lists.empty();
  if (examines && JobLanes().contains(domain::Lane::kSmtp)) {
    mail_watch = std::make_unique<MailWatch>(loop, metrics, log.For("email"),
                                             [this] { return ExamineMail(config, clock); });
  }
}

void Service::Impl::BuildScheduler() {
  ticker = std::make_unique<scheduler::Scheduler>(loop, *scheduler_pool, *signals, clock, metrics,
                                                  config, log.For("scheduler"));
  maintenance = std::make_unique<scheduler::Maintenance>(loop, *scheduler_pool, metrics, config,
                                                         log.For("maintenance"));
  importer = std::make_unique<scheduler::Importer>(loop, *scheduler_pool, *signals, clock, config,
                                                   log.For("importer"));
  job_keeper = std::make_unique<scheduler::JobKeeper>(loop, *scheduler_pool, *signals, clock,
                                                      metrics, config, log.For("jobs"));
  signals->Listen(store::Signal::kDue, [this] {
    loop.Post([this] {
      ticker->Wake();
      importer->Wake();
    });
  });
}

void Service::Impl::BuildKeys() {
  oidc_client = std::make_unique<net::HttpClient>(loop, config.net);
  const auto get = [this](const std::string& url, std::function<void(net::HttpResponse)> done) {
    net::HttpRequest request;
    request.url = url;
    request.headers = {{"Accept", "application/json"}};
    request.trust = net::Trust::kOperator;
    request.timeout = config.jwks.timeout_ms;
    request.body_bytes_max = config.jwks.bytes_max;
    oidc_client->Send(std::move(request), std::move(done));
  };
  oidc_keys = std::make_unique<OidcKeys>(loop, get, clock, metrics, config, log.For("oidc"));
}

void Service::Impl::BuildServers() {
  if (Has(Role::kApi) || Has(Role::kAdmin)) {
    key_fetch = std::make_unique<KeyFetch>(loop, metrics, config);
  }
  if (Has(Role::kApi)) {
    webhook_test =
        std::make_unique<WebhookTest>(loop, *api_pool, clock, config, log.For("delivery"));
    preview = std::make_unique<MonitorPreview>(loop, *probes, clock, config);
    waits = std::make_unique<api::Waits>(loop, *api_pool, clock, metrics, config, log.For("api"));
    signals->Listen(store::Signal::kJob, [this] { loop.Post([this] { waits->Look(); }); });
    BuildKeys();
    if (const auto note = api::IssuerNote(config); !note.empty()) log.For("api").Warn(note, {});
    if (config.search.backend == "opensearch") {
      search_engine = std::make_unique<SearchEngineClient>(loop, probes->service_budgets().answers,
                                                           metrics, config, log.For("search"));
    }
    const api::SearchParts search{search_fields, search_pool.get(), search_engine.get()};
    const api::Outgoing outgoing{*webhook_test, *preview, *key_fetch, *oidc_keys, search};
    api = std::make_unique<api::Api>(config, *api_pool, *signals, clock, metrics, policy, outgoing,
                                     *waits, pages::SelectorFault, log.For("api"));
    gated_api = std::make_unique<GatedService>(*api, [this](std::vector<std::string>* reasons) {
      std::lock_guard lock(mutex);
      // A database that went away later is the API's own matter, request by request.
      if (!parts_started && !not_ready.empty()) reasons->push_back(not_ready);
      return reasons->empty();
    });
    api_server = std::make_unique<net::HttpServer>(config.api, *gated_api, log.For("api"));
  }
  if (Has(Role::kAdmin)) {
    if (api != nullptr) tenant_desk = std::make_unique<TenantDesk>(*api);
    admin = std::make_unique<admin::Admin>(config, *admin_pool, *signals, clock, metrics, *this,
                                           search_fields, *key_fetch, log.For("admin"),
                                           tenant_desk.get());
    admin_server = std::make_unique<net::HttpServer>(config.admin, *admin, log.For("admin"));
  }
  if (!config.health.listen.empty()) {
    config::HttpServerConfig health = config.admin;
    health.listen = config.health.listen;
    health_port = std::make_unique<admin::HealthPort>(
        admin::Parts{config, *signals, clock, metrics, *this, search_fields, log.For("health")});
    health_server = std::make_unique<net::HttpServer>(health, *health_port, log.For("health"));
  }
}

void Service::Impl::SetNotReady(std::string reason) {
  std::lock_guard lock(mutex);
  if (reason == not_ready) return;
  if (reason.empty()) {
    log.Info("ready", {});
  } else {
    log.Warn("not ready", {{"reason", reason}});
  }
  not_ready = std::move(reason);
}

store::Member Service::Impl::Self(bool leaving) const {
  store::Member member;
  member.id = id;
  member.roles = RoleNames(roles);
  member.version = VEDETTE_VERSION;
  member.host = HostName();
  member.pid = getpid();
  member.draining = leaving;
  member.counters = metrics.Summary();
  if (check_pipeline) member.check_ms = check_pipeline->CheckDurationsMs();
  for (const domain::Lane lane : JobLanes()) member.lanes.emplace_back(domain::LaneName(lane));
  return member;
}

// Waits for the database and its schema, starts the parts once both are there, then keeps readiness
// and heartbeat up to date.
void Service::Impl::CheckHealth() {
  if (checking_health) return;
  checking_health = true;
  const bool beat = parts_started && clock.SinceBoot() - heartbeat_at >= kHeartbeatEvery;
  if (beat) heartbeat_at = clock.SinceBoot();
  store::Member self = Self(false);
  if (mail_watch) self.mail_check = mail_watch->seen();
  if (row_blocks) self.providers = row_blocks->AilingProvidersJson();
  store::RunAsync<store::SchemaState>(
      *fleet_pool, loop,
      [this, beat, self = std::move(self)](store::Session& session) {
        store::MeasureDatabaseClock(session, &clock);
        const auto state = store::CheckSchema(session);
        if (beat && state == store::SchemaState::kCurrent) store::Heartbeat(session, self);
        return state;
      },
      [this](std::variant<store::SchemaState, store::Failure> result) {
        checking_health = false;
        if (const auto* problem = std::get_if<store::Failure>(&result)) {
          SetNotReady(problem->message);
          return;
        }
        switch (std::get<store::SchemaState>(result)) {
          case store::SchemaState::kCurrent:
            if (!parts_started) {
              StartParts();
              CheckHealth();  // its first heartbeat tells the fleet which lanes it serves
              return;
            }
            SetNotReady("");
            return;
          case store::SchemaState::kOlder:
            SetNotReady("the database's schema is missing or older: run `vedette migrate`");
            return;
          case store::SchemaState::kNewer:
            if (parts_started) return;  // an upgrade is under way; what runs goes on
            SetNotReady("the database's schema is newer than this binary: run a newer vedette");
            std::lock_guard lock(mutex);
            failure = not_ready;
            return;
        }
      });
}

void Service::Impl::StartParts() {
  {
    std::lock_guard lock(mutex);
    parts_started = true;
  }
  signals->Start();
  if (oidc_keys) oidc_keys->Start();
  if (deliverer) deliverer->Start();
  if (check_pipeline) check_pipeline->Start();
  if (job_pipeline) job_pipeline->Start();
  if (ticker) ticker->Start();
  if (importer) importer->Start();
  if (maintenance) maintenance->Start();
  if (job_keeper) job_keeper->Start();
  if (secrets_watch) secrets_watch->Start();
  if (mail_watch) mail_watch->Start();
}

// Drains parts at the same time and waits for all of them; those that are null are not there. Not
// on the loop thread.
template <typename... Parts>
void Service::Impl::DrainParts(Parts*... parts) {
  struct Left {
    std::mutex mutex;
    std::condition_variable changed;
    int parts = 0;  // guarded by mutex
  };
  auto left = std::make_shared<Left>();
  left->parts = ((parts != nullptr ? 1 : 0) + ...);
  const auto drain = [left](auto* part) {
    if (part == nullptr) return;
    part->Drain([left] {
      std::lock_guard lock(left->mutex);
      --left->parts;
      left->changed.notify_one();
    });
  };
  loop.Post([drain, parts...] { (drain(parts), ...); });
  std::unique_lock lock(left->mutex);
  left->changed.wait(lock, [&] { return left->parts == 0; });
}

Service::Service(config::Config config, std::set<Role> roles, const base::Clock& clock,
                 base::Logger log)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(roles), clock, log)) {}

Service::~Service() {
  Stop();
}

void Service::Start() {
  Impl& s = *impl_;
  s.CheckConfig();
  if (s.config.testing.any()) {
    s.log.Warn("[testing] is set: this process breaks on purpose and must hold nothing real", {});
  }
  s.BuildPools();
  s.BuildParts();
  s.BuildServers();
  s.loop.Post([&s] { s.health_timer->Start(std::chrono::milliseconds(0), kHealthEvery); });
  s.loop_thread = std::thread([&s] { s.loop.Run(); });
  if (s.api_server) s.api_server->Start();
  if (s.admin_server) s.admin_server->Start();
  if (s.health_server) s.health_server->Start();
  s.log.Info("started", {{"version", VEDETTE_VERSION},
                         {"roles", fmt::format("{}", fmt::join(s.Self(false).roles, ","))},
                         {"api", api_address()},
                         {"admin", admin_address()},
                         {"health", s.health_server ? s.health_server->address() : ""},
                         {"member", s.id.ToString()}});
}

void Service::Stop() {
  Impl& s = *impl_;
  if (s.stopped || !s.loop_thread.joinable()) return;
  s.stopped = true;
  {
    std::lock_guard lock(s.mutex);
    s.draining = true;
  }
  s.log.Info("draining", {});
  std::this_thread::sleep_for(s.config.health.drain_delay_ms);
  if (s.waits) s.waits->Drain();
  if (s.api_server) s.api_server->Stop();
  bool started = false;
  {
    std::lock_guard lock(s.mutex);
    started = s.parts_started;
  }
  if (started) {
    s.DrainParts(s.ticker.get(), s.importer.get(), s.maintenance.get(), s.job_keeper.get());
    s.DrainParts(s.check_pipeline.get(), s.job_pipeline.get());
    // After the checks, whose last records still hand notifications over.
    s.DrainParts(s.deliverer.get());
    (void)s.fleet_pool->Post([&s](store::Session& session) { store::Leave(session, s.id); });
  }
  if (s.admin_server) s.admin_server->Stop();
  if (s.health_server) s.health_server->Stop();
  s.loop.Stop();
  s.loop_thread.join();
  s.signals->Stop();
  for (auto* pool : {&s.api_pool, &s.search_pool, &s.admin_pool, &s.scheduler_pool, &s.worker_pool,
                     &s.jobs_pool, &s.delivery_pool, &s.fleet_pool}) {
    if (*pool) (*pool)->Stop();
  }
  s.log.Info("stopped", {});
}

bool Service::Failed(std::string* reason) const {
  std::lock_guard lock(impl_->mutex);
  *reason = impl_->failure;
  return !impl_->failure.empty();
}

std::string Service::api_address() const {
  return impl_->api_server ? impl_->api_server->address() : "";
}

std::string Service::admin_address() const {
  return impl_->admin_server ? impl_->admin_server->address() : "";
}

int Migrate(const config::Config& config, base::Logger& log) {
  const base::SystemClock clock;
  return store::Migrate(config.database, clock, log);
}

}  // namespace vedette::app
