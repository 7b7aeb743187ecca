#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "lease/drain.h"
#include "lease/lease_keeper.h"
#include "lease/live.h"
#include "lease/step.h"
#include "net/browser/browser.h"
#include "store/renders.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::worker {

// How long a page stays with a process that does not say that it lives.
inline constexpr std::chrono::milliseconds kRenderLease{10'000};
// How long an offer may go without an answer of who asked for the page.
inline constexpr std::chrono::milliseconds kRenderOffered{5'000};

// The share that organisations have had of the browser of one process. Pure; one thread.
class RenderShares {
 public:
  // What a page counts until it has ended: then it counts the time that it took.
  static constexpr std::chrono::milliseconds kPage{1000};

  // Those of one claim.
  void Begin(const std::vector<base::Uuid>& org_ids);
  void End(const base::Uuid& org_id, std::chrono::milliseconds took);
  store::RenderTurns Turns() const;

 private:
  // By organisation, in milliseconds; those that have used least are forgotten, and begin again
  // where the least of the others is, so that nobody saves turns up.
  std::map<base::Uuid, std::int64_t> used_;
  std::int64_t least_ = 0;
};

// Renders the pages that other processes ask for (fleet_renderer.h), in the browser of this one.
// What it claims is offered first, and loaded once it is accepted.
//
//   claimed ──accepted──▶ in the browser ──▶ its answer is written ──▶ forgotten
//      │                       │
//      └── nobody accepts it, or its lease is lost, or the drain gives it back ──▶ forgotten
//
// At most [browser] pages_max are claimed at once, less what the browser has of its own process.
// Each address is validated here once more, by this process's own policy (G9). Loop thread only.
// Everything handed in must outlive it.
class RenderServer {
 public:
  // `busy`: the pages that the browser has now, those that wait for it included.
  RenderServer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
               const base::Clock& clock, const config::BrowserConfig& config,
               const config::SecurityConfig& security, net::Renderer& browser,
               std::function<std::size_t()> busy, std::chrono::milliseconds drain_timeout,
               base::Logger log);

  void Start();
  void Wake() { serve_.Wake(); }  // there may be something to render
  void Drain(std::function<void()> done);

 private:
  struct Page {
    enum class Stage { kOffered, kRendered, kAnswered };
    store::Lease lease;
    net::RenderRequest request;
    Stage stage = Stage::kOffered;
    std::chrono::nanoseconds since{};       // since boot: of the offer
    std::shared_ptr<net::OpenPage> open{};  // once it was rendered, where it is
    std::string unreadable{};               // why its request is: its answer, once it may have one
  };
  // What one look at the table brings.
  struct Served {
    std::vector<base::Uuid> taken{};
    base::Uuid token{};
    std::vector<store::ClaimedRender> claimed{};
    // What was looked for of open pages, and what is asked of those that are still asked for.
    std::vector<base::Uuid> looked{};
    std::map<base::Uuid, std::string> open{};
  };
  // A page that was answered and is open until who asked says whether it wants its picture.
  struct Held {
    store::Lease lease;
    std::shared_ptr<net::OpenPage> page;
    std::chrono::nanoseconds since{};  // since boot
  };

  lease::Step<Served>::Job BeginServing();
  lease::NextRun OnServed(Served served);
  std::vector<store::Lease> TakeUnaccepted();
  std::vector<store::Lease> OpenPages();
  void OnOpenPages(const Served& served);
  void TakePicture(Held held, const std::string& request);
  void Hold(store::ClaimedRender claimed, const base::Uuid& token);
  void Begin(const base::Uuid& id);
  void OnRendered(const base::Uuid& id, const base::Uuid& token, net::RenderedPage rendered);
  void Answer(const base::Uuid& id, const base::Uuid& token, net::RenderedPage rendered);
  void OnAnswered(const base::Uuid& id, const base::Uuid& token, bool written);
  void Forget(const base::Uuid& id);
  void GiveBackOffers();
  std::size_t Room() const;

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  const config::BrowserConfig& config_;
  const config::SecurityConfig& security_;
  net::Renderer& browser_;
  const std::function<std::size_t()> busy_;
  const base::Logger log_;
  std::map<base::Uuid, Page> pages_;
  std::map<base::Uuid, Held> held_;
  RenderShares shares_;
  lease::Step<Served> serve_;
  lease::LeaseKeeper leases_;
  lease::Drain drain_;
  lease::Live live_;
};

}  // namespace vedette::worker
