#include "app/probe_set.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "config/database_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "config/security_config.h"
#include "store/async.h"
#include "store/monitors/monitors.h"
#include "worker/probes/http_probe.h"
#include "worker/probes/llm_probe.h"
#include "worker/probes/probe.h"

namespace vedette::app {
namespace {

// Pages of one organisation that wait to be parsed; over it a check is told `overloaded` and tried
// again.
constexpr std::size_t kParseQueueMax = 10000;
// The share of the memory for pages that an organisation leaves to others, when it is alone.
constexpr double kBudgetReserve = 0.1;

// One organisation occupies up to probe_threads; one more is there for the others (G10).
base::ThreadPool::Limits ParseLimits(const config::WorkerConfig& worker) {
  const auto threads = static_cast<std::size_t>(worker.probe_threads);
  return {threads + 1, threads, kParseQueueMax};
}

config::NetConfig WithPerHostMax(config::NetConfig net, int per_host_max) {
  net.connections_per_host_max = per_host_max;
  return net;
}

// What sites are told of who asks.
std::string UserAgentOf(const config::NetConfig& net) {
  return net.contact.empty() ? net.user_agent : net.user_agent + " (+" + net.contact + ')';
}

config::NetConfig WithUserAgent(config::NetConfig net) {
  net.user_agent = UserAgentOf(net);
  return net;
}

bool AnyRenders(const config::Config& config) {
  return std::any_of(config.probes.begin(), config.probes.end(),
                     [](const auto& tier) { return config::Renders(tier.second); });
}

net::BrowserEvents Measured(metrics::Metrics& metrics) {
  net::BrowserEvents events;
  events.page_ended = [&metrics](const net::RenderedPage& page) {
    const net::HttpErrorClass error = page.response.error_class;
    metrics.AddRenderedPage(
        error == net::HttpErrorClass::kNone ? "ok" : net::HttpErrorClassName(error),
        page.response.duration, static_cast<std::int64_t>(page.bytes),
        static_cast<std::int64_t>(page.refused));
  };
  events.changed = [&metrics,
                    before = net::BrowserCounts{}](const net::BrowserCounts& now) mutable {
    metrics.SetBrowser(static_cast<std::int64_t>(now.open), static_cast<std::int64_t>(now.waiting),
                       static_cast<std::int64_t>(now.memory_bytes));
    metrics.AddBrowsers(static_cast<std::int64_t>(now.starts - before.starts),
                        static_cast<std::int64_t>(now.deaths - before.deaths));
    before = now;
  };
  return events;
}

// The browser of the probes, where they have one.
std::unique_ptr<net::Browser> ProbesBrowser(base::EventLoop& loop, metrics::Metrics& metrics,
                                            const config::Config& config,
                                            const net::AddressPolicy& policy,
                                            const base::Logger& log, bool handed_over) {
  if (const auto fault = BrowserFault(config); !fault.empty()) throw config::ConfigError(fault);
  const std::string lack = net::Browser::Lack(config.browser, config.net);
  if (!AnyRenders(config)) return nullptr;
  metrics.SetBrowserMissing(!lack.empty());
  if (lack.empty()) return NewBrowser(loop, metrics, config, policy, log);
  if (handed_over) {
    log.Info("pages are for processes of the role browser to render", {{"why", lack}});
  } else {
    log.Warn("pages are not rendered, although a tier asks for it", {{"why", lack}});
  }
  return nullptr;
}

// Opens and seals what monitors' pages are acted on with, on a pool's threads.
class StoredLogins final : public worker::LoginKeeper {
 public:
  StoredLogins(base::EventLoop& loop, store::Pool& pool, const config::SecurityConfig& security,
               const base::Logger& log)
      : loop_(loop), pool_(pool), security_(security), log_(log) {}

  void Read(const base::Uuid& org_id, const base::Uuid& monitor_id,
            std::function<void(std::optional<Login>)> done) override {
    store::RunAsync<Login>(
        pool_, loop_,
        [org_id, monitor_id, security = security_](store::Session& session) {
          return Opened(store::ReadLogin(session, org_id, monitor_id), org_id, monitor_id,
                        security);
        },
        [done = std::move(done)](std::variant<Login, store::Failure> read) {
          auto* login = std::get_if<Login>(&read);
          done(login == nullptr ? std::nullopt : std::optional(std::move(*login)));
        });
  }

  void Keep(const base::Uuid& org_id, const base::Uuid& monitor_id, const base::Uuid& version,
            std::string session, std::function<void()> done) override {
    store::RunAsync<bool>(
        pool_, loop_,
        [org_id, monitor_id, version, text = std::move(session),
         security = security_](store::Session& database) {
          const auto sealed =
              store::Seal(security, text, store::PageSessionBinding(org_id, monitor_id));
          return store::KeepPageSession(database, org_id, monitor_id, version, sealed);
        },
        [log = log_, monitor_id, done = std::move(done)](std::variant<bool, store::Failure> kept) {
          if (std::holds_alternative<store::Failure>(kept)) {
            log.Warn("a page's session is not kept, and the next check logs in again",
                     {{"monitor", monitor_id.ToString()}});
          }
          done();
        });
  }

 private:
  // A session that cannot be opened is none.
  static Login Opened(const std::optional<store::MonitorLogin>& stored, const base::Uuid& org_id,
                      const base::Uuid& monitor_id, const config::SecurityConfig& security) {
    Login login;
    login.secrets.emplace();
    if (!stored) return login;
    login.version = stored->version;
    const auto keys = store::NamedKeys(security);
    if (stored->secrets) {
      const auto text =
          store::OpenSealed(keys, *stored->secrets, store::ProbeSecretsBinding(org_id));
      login.secrets = text ? domain::ParseProbeSecrets(*text) : std::nullopt;
    }
    if (stored->session) {
      login.session =
          store::OpenSealed(keys, *stored->session, store::PageSessionBinding(org_id, monitor_id))
              .value_or("");
    }
    return login;
  }

  base::EventLoop& loop_;
  store::Pool& pool_;
  const config::SecurityConfig security_;
  const base::Logger log_;
};

}  // namespace

std::string RenderingLack(const config::Config& config) {
  if (!AnyRenders(config)) return "no tier of kind web has `render` set to auto or always";
  return net::Browser::Lack(config.browser, config.net);
}

std::string BrowserFault(const config::Config& config) {
  const std::string lack = net::Browser::Lack(config.browser, config.net);
  if (config.browser.enabled != "true" || lack.empty()) return "";
  return "[browser] enabled is true, but pages cannot be rendered: " + lack;
}

bool HandsRenderingOver(const config::Config& config) {
  return AnyRenders(config) && !net::Browser::Lack(config.browser, config.net).empty();
}

std::unique_ptr<net::Browser> NewBrowser(base::EventLoop& loop, metrics::Metrics& metrics,
                                         const config::Config& config,
                                         const net::AddressPolicy& policy,
                                         const base::Logger& log) {
  if (!config.browser.sandbox) {
    log.Warn(
        "[browser] sandbox is false: a page that breaks into the browser has all that its user "
        "has");
  }
  log.Info("pages can be rendered", {{"browser", config.browser.executable}});
  return std::make_unique<net::Browser>(loop, config.browser, WithUserAgent(config.net), policy,
                                        log, Measured(metrics));
}

ProbeSet::ProbeSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                   const net::AddressPolicy& policy, const config::Config& config,
                   const base::Logger& log, net::Renderer* fleet, store::Pool* logins)
    : loop_(loop),
      clock_(clock),
      metrics_(metrics),
      policy_(policy),
      net_(std::make_unique<const config::NetConfig>(WithUserAgent(config.net))),
      pages_budget_(config.worker.pages_held_bytes_max, kBudgetReserve),
      questions_budget_(config.worker.questions_held_bytes_max, kBudgetReserve),
      // Tenants' pages: polite. The operator's own services and models: as many as each carries.
      page_client_(loop, WithPerHostMax(config.net, config.worker.per_host_max),
                   config.worker.per_host_gap_ms),
      research_client_(loop, WithPerHostMax(config.net, config.net.connections_max),
                       std::chrono::milliseconds(0),
                       [&metrics](const std::string& service, int limit) {
                         metrics.SetServiceLimit(service, limit);
                       }),
      browser_(ProbesBrowser(loop, metrics, config, policy, log, fleet != nullptr)),
      renderer_(browser_ ? browser_.get() : fleet),
      parse_pool_("parse", ParseLimits(config.worker)),
      memory_(config.worker.pages_remembered_bytes_max),
      sites_(loop, page_client_, parse_pool_, policy, memory_, pages_budget_,
             UserAgentOf(config.net)),
      robots_(sites_, clock, config.net.user_agent),
      obey_robots_(config.worker.obey_robots),
      logins_(logins == nullptr ? nullptr
                                : std::make_unique<StoredLogins>(loop, *logins, config.security,
                                                                 log.For("worker"))),
      null_change_share_(config.testing.null_change_share) {
  for (const auto& [name, probe] : config.probes) {
    tiers_[*domain::ParseTier(name)] = {probe.kind, Build(probe), probe.timeout_ms,
                                        probe.deadline_ms, probe.attempts_max};
  }
}

ProbeSet::~ProbeSet() = default;

template <typename Probe, typename... Args>
Probe* ProbeSet::Own(Args&&... args) {
  auto probe = std::make_unique<Probe>(std::forward<Args>(args)...);
  Probe* raw = probe.get();
  owned_.push_back(std::move(probe));
  return raw;
}

std::unique_ptr<worker::WebProbe> ProbeSet::NewWebProbe(const config::ProbeConfig& probe) {
  return std::make_unique<worker::WebProbe>(
      loop_, page_client_, parse_pool_, policy_, memory_, pages_budget_, probe, *net_,
      obey_robots_ ? &robots_ : nullptr, config::Renders(probe) ? renderer_ : nullptr,
      logins_.get());
}

worker::Probe* ProbeSet::Build(const config::ProbeConfig& probe) {
  const auto web = [&] {
    auto pages = NewWebProbe(probe);
    worker::WebProbe* raw = pages.get();
    owned_.push_back(std::move(pages));
    return raw;
  };
  const worker::ServiceBudgets budgets = service_budgets();
  const auto model = [&](worker::WebProbe* pages) {
    return Own<worker::LlmProbe>(loop_, research_client_, budgets, clock_, metrics_, probe, pages);
  };
  if (probe.kind == "http") {
    return Own<worker::HttpProbe>(loop_, research_client_, budgets, clock_, probe);
  }
  if (probe.kind == "llm") return model(web());
  if (probe.kind == "web" && probe.model.empty()) return web();
  if (probe.kind == "web") {
    worker::WebProbe* pages = web();
    return Own<worker::MixedProbe>(*pages, *model(pages), clock_, probe);
  }
  return Own<worker::NullProbe>(null_change_share_);  // the configuration knows no other kind
}

}  // namespace vedette::app
