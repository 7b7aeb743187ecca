#include "net/browser/browser.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fair_queue.h"
#include "config/net_config.h"
#include "config/probe_config.h"
#include "net/browser/page_proxy.h"

namespace vedette::net {
namespace {

using std::chrono::milliseconds;

// Pages that wait, of all organisations together.
constexpr std::size_t kWaitingMax = 10'000;
// After a browser could not be started, nobody tries again for this long.
constexpr std::chrono::seconds kStartPause{5};

RenderedPage Failed(const std::string& url, HttpErrorClass error_class, std::string error) {
  RenderedPage page;
  page.url = url;
  page.response.error_class = error_class;
  page.response.error = std::move(error);
  return page;
}

// What is wrong with the addresses that are given to the browser by us, which would open files,
// too: the page itself asks its proxy.
std::optional<std::string> AddressFault(const RenderRequest& request, const AddressPolicy& policy) {
  // The fragment goes to no server.
  const std::string_view url = request.url;
  if (auto checked = ParseTenantUrl(url.substr(0, url.find('#')), policy); checked.error) {
    return std::move(checked.error->message);
  }
  for (std::size_t i = 0; i < request.steps.size(); ++i) {
    const domain::PageStep& step = request.steps[i];
    if (step.kind != domain::PageStep::Kind::kGoto || step.target == domain::kRowPage) continue;
    if (const auto checked = ParseTenantUrl(step.target, policy); checked.error) {
      return fmt::format("probe.steps[{}].goto: {}", i, checked.error->message);
    }
  }
  return std::nullopt;
}

// Sites are told what renders, and who asks.
std::string AgentOf(std::string browser, const std::string& ours) {
  constexpr std::string_view kHeadless = "HeadlessChrome";
  const std::size_t at = browser.find(kHeadless);
  if (at != std::string::npos) browser.replace(at, kHeadless.size(), "Chrome");
  return browser + " " + ours;
}

}  // namespace

struct Browser::Impl {
  enum class State { kNone, kStarting, kServing, kRetiring };  // browser.h
  using PageId = std::uint64_t;
  using Done = std::function<void(RenderedPage page)>;
  struct Page {
    RenderRequest request;
    Done done;
    std::chrono::nanoseconds since{};    // since boot: of its wait, then of its turn
    std::unique_ptr<base::Timer> timer;  // of its wait
    std::shared_ptr<PageLoad> load;      // in its turn
  };

  Impl(base::EventLoop& l, const config::BrowserConfig& c, const config::NetConfig& n,
       const AddressPolicy& p, base::Logger lg, BrowserEvents e)
      : loop(l),
        config(c),
        user_agent(n.user_agent),
        policy(p),
        resolver(l, n.dns_servers, n.connect_timeout_ms),
        log(lg.For("browser")),
        events(std::move(e)),
        start_timer(l, [this] { OnGone("it does not answer"); }),
        idle_timer(l, [this] { Drop(); }) {
    RemoveLostFolders();
  }

  ~Impl() { *alive = false; }

  void RemoveLostFolders();
  void Pump();
  void PumpSoon();
  void Start();
  void OnStarted(const BrowserProcess::Answer& answer);
  void OnEvent(const DevtoolsMessage& event);
  void OnGone(const std::string& why);
  void Drop();
  void Begin(PageId id);
  void OnHeld(PageId id, RenderedPage page);
  void End(PageId id, RenderedPage page);
  void FailWaiting(HttpErrorClass error_class, const std::string& error);
  BrowserCounts Counts() const;
  void TellChange() const {
    if (events.changed) events.changed(Counts());
  }
  milliseconds Since(std::chrono::nanoseconds at) const {
    return std::chrono::floor<milliseconds>(clock.SinceBoot() - at);
  }

  base::EventLoop& loop;
  const config::BrowserConfig config;
  const std::string user_agent;
  const AddressPolicy& policy;
  Resolver resolver;
  const base::Logger log;
  const BrowserEvents events;
  const base::SystemClock clock;

  State state = State::kNone;
  std::unique_ptr<BrowserProcess> process;
  std::uint64_t process_number = 0;  // of `process`: what an older one says is passed over
  std::string agent;
  int pages_begun = 0;  // in this browser
  std::chrono::nanoseconds no_start_before{};
  std::map<PageId, Page> pages;  // that wait, and in their turn
  base::FairQueue<base::Uuid, PageId> waiting;
  std::map<PageId, PageLoad*> open;
  PageId last_id = 0;
  BrowserCounts counts;
  base::Timer start_timer;
  base::Timer idle_timer;
  // They go when nothing of them is running any more.
  std::vector<std::shared_ptr<PageLoad>> ended_loads;
  std::vector<std::unique_ptr<BrowserProcess>> ended_processes;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

void Browser::Impl::RemoveLostFolders() {
  try {
    const int removed = BrowserProcess::RemoveLostFolders();
    if (removed > 0) log.Info("folders of killed browsers removed", {{"folders", removed}});
  } catch (const std::runtime_error& e) {
    log.Warn("folders of killed browsers stay", {{"error", e.what()}});
  }
}

// One thing at a time, from the loop or at the end of a call.
void Browser::Impl::Pump() {
  if (state == State::kRetiring && open.empty()) Drop();
  if (waiting.empty()) {
    if (open.empty() && state == State::kServing && !idle_timer.active()) {
      idle_timer.Start(config.idle_ms);
    }
    return;
  }
  idle_timer.Stop();
  if (state == State::kNone) return Start();
  while (state == State::kServing && !waiting.empty() &&
         open.size() < static_cast<std::size_t>(config.pages_max)) {
    Begin(*waiting.Pop());
  }
}

void Browser::Impl::Start() {
  if (clock.SinceBoot() < no_start_before) {
    return FailWaiting(HttpErrorClass::kConnect, "the browser could not be started just now");
  }
  const std::uint64_t number = ++process_number;
  try {
    process = std::make_unique<BrowserProcess>(
        loop, config,
        BrowserProcess::Events{[this, number](const DevtoolsMessage& event) {
                                 if (number == process_number) OnEvent(event);
                               },
                               [this, number](const std::string& why) {
                                 if (number == process_number) OnGone(why);
                               }});
  } catch (const std::runtime_error& e) {
    no_start_before = clock.SinceBoot() + kStartPause;
    log.Error("the browser cannot be started", {{"error", e.what()}});
    return FailWaiting(HttpErrorClass::kConnect, e.what());
  }
  ++counts.starts;
  state = State::kStarting;
  pages_begun = 0;
  start_timer.Start(config.start_timeout_ms);
  process->Send("Browser.getVersion", base::Json::object(), "",
                [this, number](const BrowserProcess::Answer& answer) {
                  if (number == process_number) OnStarted(answer);
                });
  TellChange();
}

void Browser::Impl::OnStarted(const BrowserProcess::Answer& answer) {
  const auto said = answer.result.find("userAgent");
  if (said == answer.result.end() || !said->is_string())
    return OnGone("it does not say what it is");
  start_timer.Stop();
  agent = AgentOf(said->get<std::string>(), user_agent);
  state = State::kServing;
  log.Info("browser started", {{"pid", process->pid()}});
  Pump();
}

void Browser::Impl::OnEvent(const DevtoolsMessage& event) {
  std::vector<std::shared_ptr<PageLoad>> held;
  for (const auto& [id, load] : open) held.push_back(load->shared_from_this());
  for (const auto& load : held) load->OnEvent(event);
}

// Each of its pages has lost this attempt.
void Browser::Impl::OnGone(const std::string& why) {
  ++counts.deaths;
  log.Warn("the browser is gone", {{"why", why}, {"pages", open.size()}});
  const bool started = state != State::kStarting;
  std::vector<std::shared_ptr<PageLoad>> held;
  for (const auto& [id, load] : open) held.push_back(load->shared_from_this());
  for (const auto& load : held) load->Abandon(why);
  Drop();
  if (!started) {
    no_start_before = clock.SinceBoot() + kStartPause;
    return FailWaiting(HttpErrorClass::kConnect,
                       "the browser could not be started: " + why +
                           (config.sandbox ? "; its sandbox needs user namespaces that "
                                             "unprivileged users may make"
                                           : ""));
  }
  Pump();
}

// The process may be among those that call: it goes when they have returned.
void Browser::Impl::Drop() {
  state = State::kNone;
  start_timer.Stop();
  idle_timer.Stop();
  if (process == nullptr) return;
  ++process_number;
  process->Quit();
  ended_processes.push_back(std::move(process));
  TellChange();
  PumpSoon();
}

void Browser::Impl::Begin(PageId id) {
  Page& page = pages.at(id);
  page.timer = nullptr;
  const bool may = !page.request.on_turn || page.request.on_turn(Since(page.since));
  if (!may) {
    auto node = pages.extract(id);
    return node.mapped().done(Failed(node.mapped().request.url, HttpErrorClass::kBusy, "no turn"));
  }
  page.since = clock.SinceBoot();
  ++counts.pages;
  if (++pages_begun >= config.pages_per_browser_max) state = State::kRetiring;
  std::unique_ptr<PageProxy> proxy;
  try {
    PageBounds bounds;
    bounds.bytes_max = config.page_bytes_max;
    proxy = std::make_unique<PageProxy>(loop, resolver, policy, bounds);
  } catch (const std::runtime_error& e) {
    auto node = pages.extract(id);
    return node.mapped().done(Failed(node.mapped().request.url, HttpErrorClass::kBusy, e.what()));
  }
  page.load = std::make_shared<PageLoad>(loop, *process, std::move(proxy), config, agent);
  open.emplace(id, page.load.get());
  TellChange();
  PageOrder order;
  order.url = page.request.url;
  order.wait_for = page.request.wait_for;
  order.steps = std::move(page.request.steps);
  order.cookies = std::move(page.request.cookies);
  order.reads_cookies = page.request.reads_cookies;
  if (page.request.holds_open) {
    page.load->HoldFor([this, id](RenderedPage read) { OnHeld(id, std::move(read)); });
  }
  page.load->Start(std::move(order), std::min(page.request.timeout, config.render_timeout_ms),
                   [this, id](RenderedPage rendered) { End(id, std::move(rendered)); });
}

// It keeps its place among the open pages, and its turn goes on.
void Browser::Impl::OnHeld(PageId id, RenderedPage read) {
  Page& page = pages.at(id);
  read.response.duration = Since(page.since);
  const auto done = std::exchange(page.done, {});
  done(std::move(read));
}

void Browser::Impl::End(PageId id, RenderedPage rendered) {
  auto node = pages.extract(id);
  if (node.empty()) return;
  Page& page = node.mapped();
  open.erase(id);
  const milliseconds took = Since(page.since);
  waiting.Charge(page.request.org_id, static_cast<std::uint64_t>(took.count()));
  rendered.response.duration = took;
  if (events.page_ended) events.page_ended(rendered);
  TellChange();
  // It is among those that call, and goes when they have returned.
  ended_loads.push_back(std::move(page.load));
  PumpSoon();
  if (page.done) page.done(std::move(rendered));
}

void Browser::Impl::PumpSoon() {
  loop.Post([this, still = alive] {
    if (!*still) return;
    ended_loads.clear();
    std::erase_if(ended_processes, [](const auto& one) { return one->has_exited(); });
    Pump();
  });
}

BrowserCounts Browser::Impl::Counts() const {
  BrowserCounts out = counts;
  out.open = open.size();
  out.waiting = waiting.size();
  if (process != nullptr) {
    out.pid = process->pid();
    out.memory_bytes = process->memory_bytes();
  }
  return out;
}

void Browser::Impl::FailWaiting(HttpErrorClass error_class, const std::string& error) {
  while (const auto id = waiting.Pop()) {
    auto node = pages.extract(*id);
    node.mapped().done(Failed(node.mapped().request.url, error_class, error));
  }
}

Browser::Browser(base::EventLoop& loop, const config::BrowserConfig& config,
                 const config::NetConfig& net, const AddressPolicy& policy, base::Logger log,
                 BrowserEvents events)
    : impl_(std::make_unique<Impl>(loop, config, net, policy, log, std::move(events))) {}

Browser::~Browser() = default;

std::string Browser::Lack(const config::BrowserConfig& config, const config::NetConfig& net) {
  if (config.enabled == "false") return "[browser] enabled is false";
  if (!net.proxy.empty()) return "[net] proxy is set, and a browser's pages do not go through it";
  if (access(config.executable.c_str(), X_OK) != 0) {
    return fmt::format("[browser] executable: there is no {} that can be started",
                       config.executable);
  }
  return "";
}

void Browser::Render(RenderRequest request, std::function<void(RenderedPage page)> done) {
  Impl& s = *impl_;
  if (auto fault = AddressFault(request, s.policy)) {
    s.loop.Post([url = request.url, error = std::move(*fault), done = std::move(done)] {
      done(Failed(url, HttpErrorClass::kRefusedAddress, error));
    });
    return;
  }
  const Impl::PageId id = ++s.last_id;
  if (s.waiting.size() >= kWaitingMax) {
    s.loop.Post([url = request.url, done = std::move(done)] {
      done(Failed(url, HttpErrorClass::kBusy, "too many pages wait"));
    });
    return;
  }
  Impl::Page& page = s.pages[id];
  page.request = std::move(request);
  page.done = std::move(done);
  page.since = s.clock.SinceBoot();
  page.timer = std::make_unique<base::Timer>(s.loop, [&s, id] {
    s.waiting.EraseIf([&](Impl::PageId one) { return one == id; });
    auto node = s.pages.extract(id);
    node.mapped().done(Failed(node.mapped().request.url, HttpErrorClass::kBusy,
                              "no page of the browser was free"));
  });
  page.timer->Start(std::max(page.request.wait_max, milliseconds(1)));
  s.waiting.Push(page.request.org_id, id);
  s.TellChange();
  s.PumpSoon();
}

BrowserCounts Browser::counts() const {
  return impl_->Counts();
}

}  // namespace vedette::net
