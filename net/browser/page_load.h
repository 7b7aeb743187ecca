#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/monitor/page_steps.h"
#include "net/browser/browser_process.h"
#include "net/browser/page_cookies.h"
#include "net/browser/page_picture.h"
#include "net/browser/page_proxy.h"
#include "net/http_client.h"

namespace vedette::net {

class PageLoad;

// A page that was read and is still open, so that a picture of it can be taken. It is closed when
// this goes, when a picture was taken, and after kHeldOpenMax. Loop thread only.
class OpenPage {
 public:
  // How a page that is open in another process is pictured, or closed without: one of both, once.
  struct Elsewhere {
    std::function<void(const PictureOrder& order, std::function<void(Picture picture)> done)>
        picture;
    std::function<void()> close;
  };

  explicit OpenPage(std::weak_ptr<PageLoad> page) : page_(std::move(page)) {}
  explicit OpenPage(Elsewhere page) : elsewhere_(std::move(page)) {}
  // One whose picture was taken already; `taken` may be empty.
  explicit OpenPage(std::string taken) : taken_(std::move(taken)) {}
  ~OpenPage();
  OpenPage(const OpenPage&) = delete;
  OpenPage& operator=(const OpenPage&) = delete;

  // `done` exactly once, later or at once. Once.
  void TakePicture(const PictureOrder& order, std::function<void(Picture picture)> done);
  const std::string& taken() const { return taken_; }

 private:
  const std::weak_ptr<PageLoad> page_;
  Elsewhere elsewhere_{};  // empty: it is not, or was called
  const std::string taken_;
};

// How long a page stays open for its picture, and how long that may take.
inline constexpr std::chrono::milliseconds kHeldOpenMax{6'000};
inline constexpr std::chrono::milliseconds kPictureTimeMax{5'000};

// A page as a browser has it after its scripts have run, or why there is none.
struct RenderedPage {
  enum class Kind {
    kSnapshot,  // `response.body` is the answer of DOMSnapshot.captureSnapshot
    // What is no HTML: `response.body` is what was sent, as UTF-8. Empty where the browser has
    // nothing of it, as of what it would download: it is to be fetched with the cookies.
    kAsSent,
  };
  HttpResponse response;  // of the document; its class and error where there is no page
  std::string url;        // of the document, after redirects and scripts
  Kind kind = Kind::kSnapshot;
  std::size_t bytes = 0;      // that it fetched and sent, whatever came of it
  std::uint64_t refused = 0;  // connections that it was not allowed
  // The step of PageOrder::steps, from 0, that could not be made; `response.error` says why,
  // without its secret. Its class is kProtocol.
  std::optional<int> failed_step;
  std::vector<PageCookie> cookies;  // where PageOrder::reads_cookies asks for them
  // The page itself, where it was asked for and is a snapshot; of one that failed while a document
  // was there, the picture that was taken of it.
  std::unique_ptr<OpenPage> open{};
};

// What is to be seen of a page. A page that redirects more often than kRedirectsMax ends with the
// last redirect as its answer.
struct PageOrder {
  std::string url;
  // The page is read when this CSS selector matches in its main document, or at the end of its
  // time; empty: when nothing is being fetched.
  std::string wait_for{};
  // Made before it is read, with the values of their secrets; a goto has its URL, which was checked
  // as a tenant's, or domain::kRowPage.
  std::vector<domain::PageStep> steps{};
  std::vector<PageCookie> cookies{};  // that its context has from the beginning on
  bool reads_cookies = false;         // those that it has in the end
};

// One page in the browser: a context of its own, with a proxy of its own, until it has been read.
//
//   makes its context ──▶ loads ──▶ is quiet, or its time is nearly over ──▶ reads ──▶ ended
//          │     └──▶ acts ─▲ its steps are made (page_steps.h)                │
//          └────────────┴───┴─────────── an error, a bound, its time ──────────┴──────▶ ended
//          reads ──where that is asked for──▶ held ──▶ ended
//          acts, loads, reads ──a failure, where a picture is asked for──▶ shown ──▶ ended
//
// Held: it was read, and stays open for its picture (OpenPage); its proxy carries nothing any more.
// Shown: it has failed, and its picture is taken.
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

  // `done` exactly once, later; Abandon calls it, too.
  void Start(PageOrder order, std::chrono::milliseconds timeout, Done done);
  // Before Start: once the page has been read it is held, and `held` is called with it in place of
  // `done`, which is called with no page when it ends.
  void HoldFor(Done held);

  // An event of the browser; those of other sessions are passed over.
  void OnEvent(const DevtoolsMessage& event);

  // The browser is gone: ends the page with this error, and never speaks to the browser again.
  void Abandon(const std::string& why);

 private:
  friend class OpenPage;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
