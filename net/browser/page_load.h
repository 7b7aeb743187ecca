#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "config/browser_config.h"
#include "net/browser/browser_process.h"
#include "net/browser/page_proxy.h"
#include "net/http_client.h"

namespace vedette::net {

// A page as a browser has it after its scripts have run, or why there is none.
struct RenderedPage {
  enum class Kind {
    kSnapshot,  // `response.body` is the answer of DOMSnapshot.captureSnapshot
    // What is no HTML: `response.body` is what was sent, as UTF-8; empty for a PDF.
    kAsSent,
  };
  HttpResponse response;  // of the document; its class and error where there is no page
  std::string url;        // of the document, after redirects and scripts
  Kind kind = Kind::kSnapshot;
  std::size_t bytes = 0;      // that it fetched and sent, whatever came of it
  std::uint64_t refused = 0;  // connections that it was not allowed
};

// One page in the browser: a context of its own, with a proxy of its own, until it has been read.
//
//   makes its context ──▶ loads ──▶ is quiet, or its time is nearly over ──▶ reads ──▶ ended
//          └────────────────┴─────────── an error, a bound, its time ──────────┴──────▶ ended
//
// Quiet: the document is loaded, and for config.quiet_ms nothing was being fetched; or, where it is
// asked for, a selector matches. When it has
// ended its proxy carries nothing more and its context is closed; the port of the proxy stays taken
// until the browser says that the context is, or is gone: the object lives as long. Loop thread
// only.
class PageLoad : public std::enable_shared_from_this<PageLoad> {
 public:
  using Done = std::function<void(RenderedPage page)>;

  // Everything handed in must outlive it; `user_agent` is what sites are told.
  PageLoad(base::EventLoop& loop, BrowserProcess& browser, std::unique_ptr<PageProxy> proxy,
           const config::BrowserConfig& config, std::string user_agent);
  ~PageLoad();
  PageLoad(const PageLoad&) = delete;
  PageLoad& operator=(const PageLoad&) = delete;

  // `wait_for`: the page is read when this CSS selector matches in its main document, or at the end
  // of its time; empty: when nothing is being fetched. `done` exactly once, later; Abandon calls
  // it, too.
  void Start(std::string url, std::string wait_for, std::chrono::milliseconds timeout, Done done);

  // An event of the browser; those of other sessions are passed over.
  void OnEvent(const DevtoolsMessage& event);

  // The browser is gone: ends the page with this error, and never speaks to the browser again.
  void Abandon(const std::string& why);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
