#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "html/fetch.h"
#include "html/page_memory.h"
#include "html/robots.h"
#include "metrics/metrics.h"
#include "net/browser/browser.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "store/session.h"
#include "worker/checks/check_runner.h"
#include "worker/probes/page_logins.h"
#include "worker/probes/probe.h"
#include "worker/probes/web_probe.h"
#include "worker/services/request_room.h"

namespace vedette::app {

// Why no page is rendered by this configuration on this machine: a sentence without its full stop.
// Empty: those are for which a tier asks.
std::string RenderingLack(const config::Config& config);

// Why a process that probes does not start on this machine, though its configuration demands a
// browser; empty: it does.
std::string BrowserFault(const config::Config& config);

// Whether pages of this configuration's tiers are rendered by other processes of the fleet.
bool HandsRenderingOver(const config::Config& config);
// The browser of a process, measured; it starts with its first page.
std::unique_ptr<net::Browser> NewBrowser(base::EventLoop& loop, metrics::Metrics& metrics,
                                         const config::Config& config,
                                         const net::AddressPolicy& policy, const base::Logger& log);

// The probes of the configuration's tiers, with the clients and the parse pool that they share.
// Lives on `loop`; built and destroyed while it does not run, or on it.
class ProbeSet {
 public:
  // `fleet`: renders where this process cannot; may be null. `logins`: where what monitors' pages
  // are acted on with is read and kept; null where no checks are made. Throws std::runtime_error
  // with a sentence where the configuration insists on a browser, and there is none.
  ProbeSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
           const net::AddressPolicy& policy, const config::Config& config, const base::Logger& log,
           net::Renderer* fleet = nullptr, store::Pool* logins = nullptr);
  ~ProbeSet();

  const std::map<domain::Tier, worker::TierProbe>& tiers() const { return tiers_; }

  // How the process asks the operator's own services, and the memory that this may take.
  net::HttpClient& service_client() { return research_client_; }
  worker::ServiceBudgets service_budgets() { return {questions_budget_, pages_budget_}; }

  // The one of the process; null where it has none, or no tier renders.
  net::Browser* browser() { return browser_.get(); }

  // How the process reads pages that are no monitor's: with the same clients, threads and memory.
  html::Fetcher& sites() { return sites_; }

  // One more probe of pages with them, whatever the kind of `probe` is. It must not outlive this
  // object.
  std::unique_ptr<worker::WebProbe> NewWebProbe(const config::ProbeConfig& probe);

 private:
  worker::Probe* Build(const config::ProbeConfig& probe);
  template <typename Probe, typename... Args>
  Probe* Own(Args&&... args);

  base::EventLoop& loop_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const net::AddressPolicy& policy_;
  const std::unique_ptr<const config::NetConfig> net_;
  // The bytes of all pages and answers of the process, and those of its questions. Two, because a
  // question is held while its answer waits for room: in one, questions could keep each other's
  // answers out.
  base::ByteBudget pages_budget_;
  base::ByteBudget questions_budget_;
  net::HttpClient page_client_;
  net::HttpClient research_client_;
  std::unique_ptr<net::Browser> browser_;  // null: no tier renders pages, or not here
  net::Renderer* const renderer_;          // it, or the fleet's, or null
  base::ThreadPool parse_pool_;
  html::PageMemory memory_;
  html::Fetcher sites_;
  html::RobotsCache robots_;
  const bool obey_robots_;
  std::unique_ptr<worker::LoginKeeper> logins_;  // null: no checks are made
  const double null_change_share_;
  std::vector<std::unique_ptr<worker::Probe>> owned_;
  std::map<domain::Tier, worker::TierProbe> tiers_;
};

}  // namespace vedette::app
