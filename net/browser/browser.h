#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "net/browser/page_load.h"
#include "net/public_address.h"

namespace vedette::net {

struct RenderRequest {
  base::Uuid org_id;       // in whose turn it goes
  std::string url;         // checked as a tenant's URL; may have a fragment
  std::string wait_for{};  // as PageOrder has it, and so the next three
  // Each goto is checked as a tenant's URL, too.
  std::vector<domain::PageStep> steps{};
  std::vector<PageCookie> cookies{};
  bool reads_cookies = false;
  std::chrono::milliseconds timeout{};   // from its turn on
  std::chrono::milliseconds wait_max{};  // for its turn
  bool holds_open = false;               // the page stays open for its picture (OpenPage)
  // Asked when it has its turn; false ends it as kBusy. It must not call the browser. May be null.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
};

// What renders pages: a browser of this process, or the fleet's. Loop thread only.
class Renderer {
 public:
  virtual ~Renderer() = default;

  // Whether it is of use to ask: false where pages are to be read as they are sent.
  virtual bool MayRender() const = 0;

  // `done` exactly once, later. Its classes: refused_address, dns, connect, tls, timeout,
  // body_too_large, protocol, and busy where it had no turn in its time.
  virtual void Render(RenderRequest request, std::function<void(RenderedPage page)> done) = 0;
};

// What the browser has done so far, and has under way.
struct BrowserCounts {
  std::uint64_t pages = 0;   // that were begun
  std::uint64_t starts = 0;  // of browsers
  std::uint64_t deaths = 0;  // of browsers that were not ended by their owner
  std::size_t open = 0;      // pages
  std::size_t waiting = 0;   // pages
  int pid = 0;               // 0: none runs
  std::size_t memory_bytes = 0;
};

// What is told of the browser, on the loop's thread. Neither may call it; either may be null.
struct BrowserEvents {
  // A page that had its turn has ended: with its time, bytes and refused connections.
  std::function<void(const RenderedPage& page)> page_ended{};
  std::function<void(const BrowserCounts& counts)> changed{};
};

// Renders pages, in a browser that is started when the first page comes, closed when none has come
// for a while, and replaced after a number of pages, when it takes too much memory, and when it
// dies. At most config.pages_max pages are open; the others wait, organisations in turns by the
// time that their pages took. Loop thread only.
//
//   none ──a page──▶ starts ──▶ serves ──after its number of pages──▶ retires
//     ▲                │          │                                      │
//     │                │ dead     │ idle, or dead                        │ its last page ended
//     └────────────────┴──────────┴──────────────────────────────────────┘
class Browser final : public Renderer {
 public:
  // What is handed in must outlive it.
  Browser(base::EventLoop& loop, const config::BrowserConfig& config, const config::NetConfig& net,
          const AddressPolicy& policy, base::Logger log, BrowserEvents events = {});
  ~Browser() override;  // kills it; callbacks of what is under way are dropped
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Why pages cannot be rendered by this configuration on this machine: a sentence. Empty: they
  // can.
  static std::string Lack(const config::BrowserConfig& config, const config::NetConfig& net);

  bool MayRender() const override { return true; }
  void Render(RenderRequest request, std::function<void(RenderedPage page)> done) override;

  BrowserCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
