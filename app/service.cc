#include "app/service.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/operator/admin.h"
#include "app/load_config.h"
#include "app/outside_calls.h"
#include "app/probe_set.h"
#include "app/roles.h"
#include "app/search_engine_client.h"
#include "app/secrets_watch.h"
#include "app/service/role_parts.h"
#include "app/service/service_roles.h"
#include "base/event_loop.h"
#include "base/version.h"
#include "config/database_config.h"
#include "config/delivery_config.h"
#include "config/net_config.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "config/rules.h"
#include "config/security_config.h"
#include "config/server_config.h"
#include "lease/drain.h"
#include "metrics/metrics.h"
#include "net/browser/page_proxy.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "store/accounts/cells.h"
#include "store/async.h"
#include "store/database_clock.h"
#include "store/fleet/fleet.h"
#include "store/migrate.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/rendering/fleet_renderer.h"

namespace vedette::app {
namespace {

constexpr std::int64_t kRest = 128;
// Beside the pools of the roles: the one for the fleet's state, the one that listens, and one that
// looks whether the pooler answers.
constexpr std::int64_t kOwnDatabaseConnections = 3;

std::int64_t Outgoing(int connections_max) {
  config::NetConfig net;
  net.connections_max = connections_max;
  return net::HttpClient::OpenConnectionsMax(net);
}

void AddAbsences(const config::Config& config, std::vector<StartFault>* faults) {
  const auto add = [&](std::set<Role> roles, const char* why) {
    faults->push_back({std::move(roles), why, true});
  };
  if (config.security.encryption_key.empty()) {
    add({Role::kApi, Role::kAdmin, Role::kDelivery},
        "[security] encryption_key is not set: the roles api, admin and delivery need it. Make one "
        "with `openssl rand -hex 32` and give it as VEDETTE_SECURITY_ENCRYPTION_KEY or "
        "encryption_key_file; keep it, stored signing secrets cannot be read without it");
  }
  if (config.admin_tokens.empty()) {
    add({Role::kAdmin},
        "no admin token is set: the role admin needs one. Set VEDETTE_ADMIN_TOKEN, or name = "
        "\"token\" under [admin.tokens]");
  }
  if (config.database.url.empty()) {
    add({}, kNoDatabaseUrl);
  }
}

}  // namespace

std::vector<StartFault> StartFaults(const config::Config& config) {
  std::vector<StartFault> faults;
  AddAbsences(config, &faults);
  for (const auto& [name, role] : config.admin_roles) {
    // A process without the role has the configuration of all, but not the tokens.
    if (config.admin_tokens.empty() || config.admin_tokens.contains(name)) continue;
    faults.push_back({{Role::kAdmin},
                      fmt::format("[admin.roles] {} = \"{}\": there is no token of this name in "
                                  "[admin.tokens]",
                                  name, role)});
  }
  try {
    config::ValidateAdminOidc(config.admin_oidc);
  } catch (const config::ConfigError& error) {
    // A process without the role may lack what the others are given beside the configuration of
    // all.
    faults.push_back({{Role::kAdmin}, error.what(), config.admin_tokens.empty()});
  }
  try {
    LoadSearchFields(config.search);
  } catch (const config::ConfigError& error) {
    faults.push_back({{}, error.what()});
  }
  if (std::string why = BrowserFault(config); !why.empty()) {
    faults.push_back({{Role::kApi, Role::kWorker}, std::move(why)});
  }
  return faults;
}

DescriptorNeed NeedOfDescriptors(const config::Config& config, const std::set<Role>& roles) {
  const auto has = [&](Role role) { return roles.contains(role); };
  const config::DatabaseConfig& db = config.database;
  DescriptorNeed need;
  need.database = kOwnDatabaseConnections;
  need.rest = kRest;
  if (has(Role::kApi)) {
    need.servers += config.api.connections_max;
    need.database += db.api_connections + db.search_connections;
  }
  if (has(Role::kAdmin)) {
    need.servers += config.admin.connections_max;
    need.database += db.admin_connections;
  }
  if (!config.health.listen.empty()) need.servers += config.admin.connections_max;
  if (has(Role::kScheduler)) need.database += db.scheduler_connections;
  if (has(Role::kWorker)) {
    need.outgoing += 2 * Outgoing(config.net.connections_max);  // pages, and services
    need.database += db.worker_connections + db.jobs_connections;
  }
  // The API sends the tests of webhooks through the same client.
  if (has(Role::kDelivery) || has(Role::kApi)) {
    need.outgoing += Outgoing(config.delivery.in_flight_max + config.delivery.slow_in_flight_max);
  }
  if (has(Role::kDelivery)) need.database += db.delivery_connections;
  const bool reads = has(Role::kWorker) || has(Role::kApi);
  if (has(Role::kBrowser) || (reads && HandsRenderingOver(config))) {
    need.database += kRenderConnections;
  }
  // Connections of pages in the browser go through proxies of this process, which have both ends.
  if (has(Role::kBrowser) || (reads && RenderingLack(config).empty())) {
    need.outgoing += config.browser.pages_max *
                     static_cast<std::int64_t>(2 * net::PageBounds().connections_open_max + 1);
  }
  return need;
}

void ProvideDescriptors(const DescriptorNeed& need, const base::Logger& log) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const auto limit = static_cast<std::int64_t>(
      std::min<rlim_t>(files.rlim_cur, std::numeric_limits<std::int64_t>::max()));
  const base::Logger::Fields fields = {{"limit", limit},
                                       {"needed", need.total()},
                                       {"servers", need.servers},
                                       {"outgoing", need.outgoing},
                                       {"database", need.database}};
  if (limit < need.total()) {
    log.Warn(
        "file descriptors may run out: raise the hard limit (ulimit -Hn, LimitNOFILE) or lower "
        "connections_max",
        fields);
  } else {
    log.Info("file descriptors suffice", fields);
  }
}

namespace {

// How often the database is looked at, and how often the member of the fleet says that it lives.
constexpr std::chrono::milliseconds kHealthEvery{1000};
constexpr std::chrono::milliseconds kHeartbeatEvery{5000};
// A look that takes longer says that the database does not answer: it reads a few rows.
constexpr std::chrono::seconds kHealthLookMax{10};

// What a look at the database has found.
struct DatabaseLook {
  std::string pooler;  // why it is refused; empty: it is not
  store::SchemaState schema = store::SchemaState::kOlder;
};

// A newer schema is that of an upgrade under way: what runs goes on until it is replaced.
bool GoesOnUnder(store::SchemaState schema) {
  return schema == store::SchemaState::kCurrent || schema == store::SchemaState::kNewer;
}

std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

struct Service::Impl final : public admin::ServiceState {
  Impl(const config::Config& c, std::set<Role> r, const base::Clock& k, base::Logger l,
       std::vector<config::CellPort> cs)
      : config(c),
        cells(std::move(cs)),
        duties(std::move(r), config),
        clock(k),  // the database's, from the first look at it on, which precedes every part
        log(l),
        metrics(VEDETTE_VERSION),
        policy(config.net.allow),
        search_fields(LoadSearchFields(config.search)),
        id(base::Uuid::V7(clock)) {
    metrics.SetCell(config.cell.id);
  }

  // admin::ServiceState
  bool Ready(std::vector<std::string>* reasons) const override {
    std::lock_guard lock(mutex);
    if (stage == Stage::kDraining || stage == Stage::kLeaving) {
      reasons->push_back("the process is draining");
    }
    if (!not_ready.empty()) reasons->push_back(not_ready);
    return reasons->empty();
  }
  bool MayAnswer() const override;
  void Drain() override { kill(getpid(), SIGTERM); }
  base::Uuid member_id() const override { return id; }
  std::string rendering_lack() const override {
    if (Has(Role::kBrowser)) return "";  // it does not start where it cannot
    if (!Has(Role::kWorker) && !Has(Role::kApi)) return "this process reads no pages";
    return fleet_renderer ? fleet_renderer->lack() : RenderingLack(config);
  }

  enum class Stage { kWaiting, kServing, kDraining, kLeaving };  // service.h
  static bool HasStarted(Stage at) { return at == Stage::kServing || at == Stage::kDraining; }
  bool HasStarted() const {
    std::lock_guard lock(mutex);
    return HasStarted(stage);
  }

  void CheckConfig() const;
  void BuildRoles();
  void BuildFleetRenderer();
  void BuildPorts(const Core& core);
  void CheckHealth();
  void LookThroughPooler(const DatabaseLook& look);
  void EndLook(const DatabaseLook& look, const std::string& fault);
  void ActOn(const DatabaseLook& look);
  void GiveUp(const std::string& reason);
  bool StartRoles();
  void DrainRoles();
  void SetNotReady(std::string reason);
  bool Has(Role role) const { return duties.Has(role); }
  store::Member Self(bool leaving) const;

  const config::Config config;
  const std::vector<config::CellPort> cells;
  const Duties duties;
  store::DatabaseClock clock;
  const base::Logger log;
  metrics::Metrics metrics;
  const net::AddressPolicy policy;
  const domain::search::Catalogue search_fields;
  const base::Uuid id;

  mutable std::mutex mutex;
  std::string not_ready = "starting";  // guarded by mutex; empty = ready
  Stage stage = Stage::kWaiting;       // guarded by mutex
  std::string failure;                 // guarded by mutex; not empty: going on is pointless

  base::EventLoop loop;
  std::thread loop_thread;
  std::unique_ptr<store::Signals> signals;
  std::unique_ptr<Pools> pools;

  // Everything from here on lives on the loop. What stands below refers to what stands above, and
  // is destroyed before it. A role is null where the process does not have it.
  std::unique_ptr<worker::FleetRenderer> fleet_renderer;  // null: the process has its own browser
  std::unique_ptr<ProbeSet> probes;  // of the worker, and of the API's previews
  std::unique_ptr<BrowserRole> browser_role;
  std::unique_ptr<DeliveryRole> delivery_role;
  std::unique_ptr<WorkerRole> worker_role;
  std::unique_ptr<SchedulerRole> scheduler_role;
  std::unique_ptr<SecretsWatch> secrets_watch;
  std::unique_ptr<base::Timer> health_timer;
  std::optional<std::chrono::nanoseconds> looking_since;  // at the database; none: no look now
  std::string_view looking_at;
  std::chrono::nanoseconds heartbeat_at{0};

  std::unique_ptr<ApiRole> api_role;
  // The API and the operator's port share it. Destroyed before the API, whose answers it may hold.
  std::unique_ptr<KeyFetch> key_fetch;
  std::unique_ptr<AdminRole> admin_role;
  std::unique_ptr<HealthListener> health_listener;
};

void Service::Impl::CheckConfig() const {
  for (const StartFault& fault : StartFaults(config)) {
    const bool has_one = std::any_of(fault.roles.begin(), fault.roles.end(),
                                     [this](Role role) { return Has(role); });
    if (has_one || fault.roles.empty()) throw config::ConfigError(fault.why);
  }
}

// Builds every part in order; the ports are bound last.
void Service::Impl::BuildRoles() {
  signals = std::make_unique<store::Signals>(config.database, clock, metrics, log.For("store"));
  pools = std::make_unique<Pools>(config, duties, clock, metrics, log);
  const Core core{config, loop, *signals, clock, metrics, policy, log};
  if (Has(Role::kDelivery)) delivery_role = std::make_unique<DeliveryRole>(core, *pools->delivery);
  // Jobs ask services as probes do, and previews read pages as checks do, within the same memory.
  if (Has(Role::kWorker) || Has(Role::kApi)) {
    if (HandsRenderingOver(config)) BuildFleetRenderer();
    probes = std::make_unique<ProbeSet>(loop, clock, metrics, policy, config, log,
                                        fleet_renderer.get(), pools->worker.get());
  }
  if (Has(Role::kBrowser)) {
    browser_role =
        std::make_unique<BrowserRole>(core, *pools->render, probes ? probes->browser() : nullptr);
  }
  if (Has(Role::kWorker)) {
    worker_role = std::make_unique<WorkerRole>(core, duties, *pools, *probes,
                                               delivery_role ? &delivery_role->sink() : nullptr);
  }
  if (Has(Role::kScheduler)) {
    scheduler_role = std::make_unique<SchedulerRole>(core, *pools->scheduler);
  }
  if (!config.security.encryption_key.empty()) {
    secrets_watch = std::make_unique<SecretsWatch>(loop, *pools->fleet, metrics, config.security,
                                                   log.For("service"));
  }
  health_timer = std::make_unique<base::Timer>(loop, [this] { CheckHealth(); });
  BuildPorts(core);
}

void Service::Impl::BuildFleetRenderer() {
  fleet_renderer = std::make_unique<worker::FleetRenderer>(
      loop, *pools->render, *signals, clock, metrics, config.security,
      net::Browser::Lack(config.browser, config.net), log.For("browser"));
  signals->Listen(store::Signal::kRendered,
                  [this] { loop.Post([this] { fleet_renderer->Wake(); }); });
}

void Service::Impl::BuildPorts(const Core& core) {
  if (Has(Role::kApi) || Has(Role::kAdmin)) {
    key_fetch = std::make_unique<KeyFetch>(loop, metrics, config);
  }
  if (Has(Role::kApi)) {
    api_role = std::make_unique<ApiRole>(core, *pools, *probes, *key_fetch, search_fields,
                                         [this] { return MayAnswer(); });
  }
  if (Has(Role::kAdmin)) {
    admin_role = std::make_unique<AdminRole>(core, *pools->admin, *this, search_fields, *key_fetch,
                                             api_role ? &api_role->public_api() : nullptr, cells);
  }
  if (!config.health.listen.empty()) {
    health_listener = std::make_unique<HealthListener>(core, *this);
  }
}

bool Service::Impl::MayAnswer() const {
  std::lock_guard lock(mutex);
  return HasStarted(stage) || not_ready.empty();
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
  member.roles = RoleNames(duties.roles());
  member.version = base::VersionAndCommit();
  member.host = HostName();
  member.pid = getpid();
  member.draining = leaving;
  member.counters = metrics.Summary();
  for (const domain::Lane lane : duties.job_lanes()) {
    member.lanes.emplace_back(domain::LaneName(lane));
  }
  return member;
}

// Waits for the database and its schema, starts the roles once both are there, then keeps readiness
// and heartbeat up to date.
void Service::Impl::CheckHealth() {
  const auto now = clock.SinceBoot();
  if (looking_since) {
    if (now - *looking_since < kHealthLookMax) return;
    SetNotReady(fmt::format("{} has not answered for {} s", looking_at, kHealthLookMax.count()));
    return;
  }
  looking_since = now;
  looking_at = "the database";
  const bool beat = HasStarted() && now - heartbeat_at >= kHeartbeatEvery;
  if (beat) heartbeat_at = now;
  store::Member self = Self(false);
  if (worker_role) {
    self.mail_check = worker_role->mail_seen();
    self.providers = worker_role->AilingProviders();
  }
  store::RunAsync<DatabaseLook>(
      *pools->fleet, loop,
      [this, beat, first = !HasStarted(), cell = config.cell.id,
       self = std::move(self)](store::Session& session) {
        DatabaseLook look;
        if (first) look.pooler = store::TransactionPoolerFound(session);
        if (first && look.pooler.empty() && pools->pooled.is_pooled) {
          look.pooler = store::PooledElsewhere(session, pools->pooled);
        }
        if (!look.pooler.empty()) return look;
        store::MeasureDatabaseClock(session, &clock);
        look.schema = store::CheckSchema(session);
        if (first && look.schema == store::SchemaState::kCurrent) {
          store::FillDirectory(session, cell);
        }
        if (beat && GoesOnUnder(look.schema)) store::Heartbeat(session, self);
        return look;
      },
      [this](std::variant<DatabaseLook, store::Failure> result) {
        if (const auto* problem = std::get_if<store::Failure>(&result)) {
          EndLook({}, problem->message);
        } else {
          LookThroughPooler(std::get<DatabaseLook>(result));
        }
      });
}

// The roles api and admin have no other way to the database. Requests that wait for their pools
// keep no look waiting.
void Service::Impl::LookThroughPooler(const DatabaseLook& look) {
  if (!pools->pooler || !look.pooler.empty()) return EndLook(look, "");
  looking_at = "[database] pooled_url";
  store::RunAsync<store::SchemaState>(
      *pools->pooler, loop, store::CheckSchema,
      [this, look](const std::variant<store::SchemaState, store::Failure>& result) {
        const auto* problem = std::get_if<store::Failure>(&result);
        EndLook(look, problem != nullptr ? "[database] pooled_url: " + problem->message : "");
      });
}

void Service::Impl::EndLook(const DatabaseLook& look, const std::string& fault) {
  looking_since.reset();
  if (!fault.empty()) return SetNotReady(fault);
  ActOn(look);
}

void Service::Impl::ActOn(const DatabaseLook& look) {
  if (!look.pooler.empty()) {
    GiveUp(look.pooler);
    return;
  }
  if (HasStarted() && GoesOnUnder(look.schema)) {
    SetNotReady("");
    return;
  }
  switch (look.schema) {
    case store::SchemaState::kCurrent:
      // Its first heartbeat tells the fleet which lanes it serves.
      if (StartRoles()) CheckHealth();
      return;
    case store::SchemaState::kOlder:
      SetNotReady("the database's schema is missing or older: run `vedette migrate`");
      return;
    case store::SchemaState::kNewer:
      GiveUp("the database's schema is newer than this binary: run a newer vedette");
      return;
    case store::SchemaState::kUnreleased:
      GiveUp(std::string(store::kUnreleasedSchema));
      return;
  }
}

void Service::Impl::GiveUp(const std::string& reason) {
  SetNotReady(reason);
  std::lock_guard lock(mutex);
  failure = reason;
}

// Not where the process was told to stop meanwhile.
bool Service::Impl::StartRoles() {
  {
    std::lock_guard lock(mutex);
    if (stage != Stage::kWaiting) return false;
    stage = Stage::kServing;
  }
  signals->Start();
  if (fleet_renderer) fleet_renderer->Start();
  if (browser_role) browser_role->Start();
  if (api_role) api_role->Start();
  if (admin_role) admin_role->Start();
  if (delivery_role) delivery_role->Start();
  if (worker_role) worker_role->Start();
  if (scheduler_role) scheduler_role->Start();
  if (secrets_watch) secrets_watch->Start();
  return true;
}

namespace {

// How long parts are given that hold leases: those end by themselves.
std::chrono::milliseconds WorkDrainMax(const config::Config& config) {
  return config.worker.drain_timeout_ms + lease::kDrainGrace;
}
std::chrono::milliseconds DeliveryDrainMax(const config::Config& config) {
  return config.delivery.drain_timeout_ms + lease::kDrainGrace;
}

}  // namespace

// Deliveries stop after the checks, whose last records still hand notifications over.
void Service::Impl::DrainRoles() {
  std::vector<DrainedPart> work;
  if (scheduler_role) scheduler_role->AddParts(&work);
  if (worker_role) worker_role->AddParts(&work);
  if (browser_role) browser_role->AddParts(&work);
  DrainParts(loop, log, WorkDrainMax(config), work);
  std::vector<DrainedPart> deliveries;
  if (delivery_role) delivery_role->AddParts(&deliveries);
  DrainParts(loop, log, DeliveryDrainMax(config), deliveries);
}

Service::Service(const config::Config& config, std::set<Role> roles, const base::Clock& clock,
                 base::Logger log, std::vector<config::CellPort> cells)
    : impl_(std::make_unique<Impl>(config, std::move(roles), clock, log, std::move(cells))) {}

Service::~Service() {
  Stop();
}

void Service::Start() {
  Impl& s = *impl_;
  s.CheckConfig();
  if (s.config.testing.any()) {
    s.log.Warn("[testing] is set: this process breaks on purpose and must hold nothing real", {});
  }
  s.BuildRoles();
  s.loop.Post([&s] { s.health_timer->Start(std::chrono::milliseconds(0), kHealthEvery); });
  s.loop_thread = std::thread([&s] { s.loop.Run(); });
  if (s.api_role) s.api_role->Serve();
  if (s.admin_role) s.admin_role->Serve();
  if (s.health_listener) s.health_listener->Serve();
  s.log.Info("started", {{"version", base::Version()},
                         {"commit", base::Commit()},
                         {"roles", fmt::format("{}", fmt::join(s.Self(false).roles, ","))},
                         {"api", api_address()},
                         {"admin", admin_address()},
                         {"health", s.health_listener ? s.health_listener->address() : ""},
                         {"member", s.id.ToString()}});
}

void Service::Stop() {
  Impl& s = *impl_;
  if (!s.loop_thread.joinable()) return;
  bool started = false;
  {
    std::lock_guard lock(s.mutex);
    started = Impl::HasStarted(s.stage);
    s.stage = started ? Impl::Stage::kDraining : Impl::Stage::kLeaving;
  }
  s.log.Info("draining", {});
  if (s.api_role) s.api_role->Leave();
  std::this_thread::sleep_for(s.config.health.drain_delay_ms);
  if (s.api_role) s.api_role->Stop();
  if (started) {
    s.DrainRoles();
    (void)s.pools->fleet->Post([&s](store::Session& session) { store::Leave(session, s.id); });
  }
  if (s.admin_role) s.admin_role->Stop();
  if (s.health_listener) s.health_listener->Stop();
  s.loop.Stop();
  s.loop_thread.join();
  s.signals->Stop();
  s.pools->Stop();
  s.log.Info("stopped", {});
}

std::chrono::milliseconds Service::StopTimeMax() const {
  const config::Config& config = impl_->config;
  return config.health.drain_delay_ms + config.api.drain_timeout_ms + WorkDrainMax(config) +
         DeliveryDrainMax(config);
}

bool Service::Failed(std::string* reason) const {
  std::lock_guard lock(impl_->mutex);
  *reason = impl_->failure;
  return !impl_->failure.empty();
}

std::string Service::api_address() const {
  return impl_->api_role ? impl_->api_role->address() : "";
}

std::string Service::admin_address() const {
  return impl_->admin_role ? impl_->admin_role->address() : "";
}

int Migrate(const config::Config& config, base::Logger& log) {
  const base::SystemClock clock;
  return store::Migrate(config.database, clock, log);
}

}  // namespace vedette::app
