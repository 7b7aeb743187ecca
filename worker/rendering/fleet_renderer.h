#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "lease/live.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "net/browser/browser.h"
#include "store/renders.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::worker {

// How long a page is asked for without a word of who asks.
inline constexpr std::chrono::milliseconds kRenderAsked{30'000};
// What a page may take beyond its own time once it was accepted: its browser may have to be started
// first, and the answer has to come back.
inline constexpr std::chrono::milliseconds kRenderSlack{60'000};
// After a start, pages wait at most this long for a first process of the role: those of a fleet
// that is started come in any order.
inline constexpr std::chrono::milliseconds kBrowsersAwaited{60'000};
// Pages that one process has asked for; beyond, they are busy.
inline constexpr std::size_t kRendersAskedMax = 10'000;

// Has pages rendered by processes of the role browser (render_server.h), by way of the database.
//
//   asked ──its row is there──▶ waits ──offered──▶ may it begin? ──yes──▶ taken ──answered──▶ done
//     │                         │  ▲                    │no                 │             or held
//     │                         │  └── its browser's process died ──────────┤
//     └── the database is away ─┴── its wait is over, ──┴── its time is over┴──▶ done, failed
//                                   nobody renders
//
//   held ──its picture is wanted──▶ pictured ──answered──▶ done
//     └──────── it is not ────────────┴── its time is over ──▶ done, and closed there
//
// While no process of that role is alive, pages fail as `connect`: those that were rendered until
// now must not be read as they are sent, which would be a change. Where none was seen since Start,
// and kBrowsersAwaited is over, MayRender is false: nobody means to have pages rendered. Loop
// thread only, but for lack(). Everything handed in must outlive it.
class FleetRenderer final : public net::Renderer {
 public:
  // `why`: why this process has no browser, as Browser::Lack says it. `awaited`: kBrowsersAwaited,
  // but in tests.
  FleetRenderer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                const base::Clock& clock, metrics::Metrics& metrics,
                const config::SecurityConfig& security, std::string why, base::Logger log,
                std::chrono::milliseconds awaited = kBrowsersAwaited);

  void Start();
  void Wake();  // something was offered or answered

  bool MayRender() const override { return members_ != Members::kNone; }
  void Render(net::RenderRequest request,
              std::function<void(net::RenderedPage page)> done) override;

  // Why no page is rendered now: a sentence without its full stop; empty: they are. Any thread.
  std::string lack() const;

 private:
  // Processes of the role, as of the last look at the fleet.
  //
  //   kAwaited --one is alive--> kAlive <--> kDead
  //      | kBrowsersAwaited is over             ^
  //      +--> kNone --one is alive--> kAlive    |
  //      +-- the fleet has heard of one lately -+
  enum class Members { kAwaited, kNone, kDead, kAlive };

  struct Page {
    enum class Stage {
      kAsked,     // its row is being written
      kWaits,     // for a browser
      kOffered,   // one was told that it may begin
      kTaken,     // a browser has it
      kHeld,      // it was answered, and is open there until it is said whether it is pictured
      kPictured,  // its picture was asked for
    };
    net::RenderRequest request;
    std::function<void(net::RenderedPage page)> done;
    Stage stage = Stage::kAsked;
    std::chrono::nanoseconds since{};  // since boot, of the stage
    std::function<void(net::Picture picture)> pictured{};
  };

  // What one look at the pages of this process does, and what it brings.
  struct Look {
    std::vector<store::RenderNews> news{};
    std::map<base::Uuid, net::RenderedPage> pages{};
    std::map<base::Uuid, std::string> pictures{};  // messages
    bool told = false;  // the browsers of open pages: of pictures, or that there will be none
    std::vector<base::Uuid> accepted{};
    std::vector<base::Uuid> begun{};  // of those that were to be accepted
  };

  lease::Step<Look>::Job BeginLook();
  lease::Step<Look>::Then OnLook(Look look);
  void OnNews(const store::RenderNews& one, std::vector<store::Lease>* accept,
              std::vector<base::Uuid>* collect);
  void OnMembers(const store::BrowserMembers& members);
  lease::Step<Look>::Then Collect(std::vector<store::Lease> accept, std::vector<base::Uuid> ids);
  void OnCollected(const base::Uuid& id, net::RenderedPage page);
  void AskForPicture(const base::Uuid& id, const net::PictureOrder& order,
                     std::function<void(net::Picture picture)> done);
  void Close(const base::Uuid& id);
  void EndOverdue();
  void OnAsked(const base::Uuid& id, bool written);
  void Fail(const base::Uuid& id, net::HttpErrorClass error_class, const std::string& error);
  void Finish(const base::Uuid& id, net::RenderedPage page);
  void Show();

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::SecurityConfig& security_;
  const std::string why_;
  const base::Logger log_;
  const std::chrono::milliseconds awaited_;
  std::atomic<Members> members_ = Members::kAwaited;
  std::chrono::nanoseconds started_at_{};  // since boot
  std::map<base::Uuid, Page> pages_;
  std::vector<base::Uuid> cancelled_;           // their rows are still to go
  std::map<base::Uuid, std::string> pictures_;  // that are still to be asked for
  std::chrono::nanoseconds renewed_at_{};
  lease::Step<Look> look_;
  lease::Step<store::BrowserMembers> watch_;
  lease::Live live_;
};

}  // namespace vedette::worker
