#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/thread_pool.h"
#include "base/uuid.h"
#include "domain/monitor/failure.h"
#include "domain/monitor/page_steps.h"
#include "domain/monitor/request_headers.h"
#include "html/html_document.h"
#include "html/page_forms.h"
#include "html/page_memory.h"
#include "net/browser/page_cookies.h"
#include "net/browser/page_document.h"
#include "net/http_client.h"
#include "net/public_address.h"

namespace vedette::net {
class OpenPage;
class Renderer;
}  // namespace vedette::net

namespace vedette::html {

// What reading one page may take, from its beginning on. A pool has few threads, and they are
// everybody's.
struct ReadingLimits {
  std::chrono::milliseconds processor{5000};  // of its thread: more is the page's own doing
  std::chrono::milliseconds wall{30'000};     // more is the machine's: it had no time for the page
};

// The time that reading one page has. Shared by the loop, which stops the reading, and the thread
// of the pool that reads.
class ReadingTime {
 public:
  // The time counts from now on. Called before the reader; it may call it again after work that is
  // not the page's. Thread that reads.
  void Begin();
  // Stops the count. Thread that reads.
  void End();
  // Since boot, as of Clock; empty while the page waits for a thread. Any thread.
  std::optional<std::chrono::nanoseconds> begun() const;
  // The processor's time that it took. Any thread, while the one that reads lives.
  std::chrono::nanoseconds taken() const;

  // For what is expensive (HtmlDocument); a reader of its own loops asks stop().stopped().
  ExtractionStop& stop() { return stop_; }

 private:
  ExtractionStop stop_;
  mutable std::mutex mutex_;
  std::optional<base::ThreadClock> thread_;        // guarded by mutex_; set while it counts
  std::chrono::nanoseconds thread_began_{};        // guarded by mutex_
  std::chrono::nanoseconds taken_{};               // guarded by mutex_; once it has ended
  std::optional<std::chrono::nanoseconds> begun_;  // guarded by mutex_
};

using Fetched = std::variant<std::shared_ptr<const Reading>, domain::Failure>;

// Makes something of a page, on a thread of the pool. What it throws becomes the failure
// bad_content. A failure is not remembered.
using ReadPage = std::function<Fetched(const FetchedPage& page, ReadingTime& time)>;

struct FetchRequest {
  base::Uuid org_id;  // the organisation that shares connections, threads and memory
  std::string url;
  // Sent with the requests for `url` and for where it redirects to on its own site
  // (url_reference.h), to nobody else. One of the same name replaces ours; may be null.
  std::shared_ptr<const domain::RequestHeaders> own_headers{};
  // Names what is made of the page, and for whom: two requests that may share a reading have the
  // same key. Empty: nothing is remembered of the page, and it always comes whole.
  std::string reading_key;
  std::size_t body_bytes_max = 0;
  // Bounds all requests of the page together, redirects included, without the waits for their turn.
  std::chrono::milliseconds timeout{};
  // How long each request may wait for its turn (net::HttpRequest::wait_max).
  std::chrono::milliseconds turn_wait_max{};
  // How long the page may wait for a thread of the pool, less what its requests took.
  std::chrono::milliseconds thread_wait_max{};
  // If set: called each time a request of the page has its turn, before anything is sent, and when
  // a page that waited for a thread was read; `waited`: for that. False before a request ends the
  // fetch with `overloaded`. Loop thread.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
  // Has the page's scripts run, in a browser: `own_headers` are not sent then, nothing is
  // remembered of it, and it may take what the browser's configuration says.
  bool render = false;
  std::string wait_for{};  // a CSS selector: a rendered page is read when it matches
  std::string fragment{};  // with its '#': goes behind the URL of a page that is rendered
  // What is done on a rendered page before it is read, with the values of secrets; a goto has its
  // URL. One that cannot be made is the failure `step_failed`.
  std::vector<domain::PageStep> steps{};
  std::vector<net::PageCookie> cookies{};  // that a rendered page has from the beginning on
  // If set: called with those that it has in the end, before `done`; not where it failed. Loop
  // thread.
  std::function<void(std::vector<net::PageCookie> cookies)> on_cookies{};
  // If set: a page that is rendered stays open for its picture, and is handed over here, before
  // `done`; of one that failed its picture is.
  std::function<void(std::shared_ptr<net::OpenPage> open)> on_open{};
  // The sentence of the failure of a page that takes more of the processor than it may.
  std::string_view too_slow = "Reading the page takes too long.";
};

// Gets pages of tenants' URLs and has them read. Loop thread only; every page's way is
//
//   checked --> requested --> whole --> waits for a thread --> read --> done
//     ^            |  |                      |                  |
//     +- redirect -+  +--> 304: the reading  +-- too long ------+--> failure
//                          that is remembered
//
// Each hop is checked (G9); at most net::kRedirectsMax are followed. A page that is rendered comes
// from the browser instead, whole, after its redirects. Where the memory has a reading of the page
// under the same key, only another version is asked for; the same bytes are not read again. A page
// counts in `budget` from its first byte, one that is rendered from the browser's answer on, until
// it has been read. Threads are taken in turns by organisation. Its failures:
//   refused_address, dns, connect, tls, timeout, http_status, blocked, body_too_large, protocol,
//   bad_content, overloaded, step_failed, and those of the reader
class Fetcher {
 public:
  // Everything handed in must outlive this object, and `pool` must end before `loop` does: its jobs
  // post to the loop.
  Fetcher(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
          const net::AddressPolicy& policy, PageMemory& memory, base::ByteBudget& budget,
          std::string user_agent, net::Renderer* renderer = nullptr, ReadingLimits limits = {});
  ~Fetcher();  // callbacks of what is under way are dropped, its readers are stopped
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Whether FetchRequest::render may be asked for now.
  bool Renders() const;

  // Why a page of that URL would not be asked for; empty where it would.
  std::optional<domain::Failure> CheckUrl(const std::string& url) const;

  // `done` exactly once, perhaps from inside Fetch.
  void Fetch(FetchRequest request, ReadPage read, std::function<void(Fetched)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::html
