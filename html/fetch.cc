#include "html/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "html/http_failure.h"
#include "html/page_reading.h"
#include "html/rendered_document.h"
#include "html/url_reference.h"
#include "net/browser/browser.h"
#include "net/retry_after.h"

namespace vedette::html {
namespace {

using domain::Failure;
using std::chrono::milliseconds;

constexpr std::string_view kWhom = "the page";

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Trying again at once would not help, unless the answer says that it would.
Failure Blocked(const net::HttpResponse& response, base::Timestamp now) {
  const bool retryable = response.status == 429 || response.status == 503;
  Failure out{
      "blocked",
      fmt::format("A wall against robots answers for the page (status {}).", response.status),
      retryable,
      {}};
  if (retryable) out.retry_after = net::RetryAfter(response, now);
  return out;
}

Failure RefusedAddress(std::string message) {
  if (!message.ends_with('.')) message += '.';
  return {"refused_address", std::move(message), false, {}};
}

// It is not tried again at once: a login that fails time after time may lock an account.
Failure StepFailed(const net::RenderedPage& page) {
  return {"step_failed",
          fmt::format("A step could not be made: {}.", base::RepairUtf8(page.response.error)),
          false,
          {}};
}

using Headers = std::vector<std::pair<std::string, std::string>>;

// One of the same name replaces ours.
void AddOwn(const domain::RequestHeaders& own, Headers* headers) {
  for (const auto& header : own) {
    std::erase_if(*headers, [&](const auto& ours) {
      return base::EqualsIgnoringAsciiCase(ours.first, header.first);
    });
    headers->push_back(header);
  }
}

// The document of a snapshot in place of the snapshot, unless it is a wall's.
std::optional<Failure> ReadSnapshot(FetchedPage* page, int status, std::size_t bytes_max) {
  auto document = RenderedDocument(page->body, bytes_max);
  if (auto* failure = std::get_if<Failure>(&document)) return std::move(*failure);
  page->body = std::get<std::string>(std::move(document));
  net::HttpResponse wall;
  wall.status = status;
  wall.body = std::move(page->body);
  const bool is_wall = IsChallengePage(wall);
  page->body = std::move(wall.body);
  if (is_wall) return Blocked(wall, {});
  return std::nullopt;
}

// On a thread of the pool, where nothing may be thrown.
Fetched ReadGuarded(const ReadPage& read, const FetchedPage& page, ReadingTime& time) {
  if (time.stop().stopped()) return OverloadedFailure();  // nobody waits for it any more
  try {
    return read(page, time);
  } catch (const std::exception& e) {
    return Failure{"bad_content", fmt::format("The page cannot be read: {}.", e.what()), false, {}};
  }
}

}  // namespace

void ReadingTime::Begin() {
  const std::lock_guard lock(mutex_);
  begun_ = base::SystemClock().SinceBoot();
  thread_.emplace();
  thread_began_ = thread_->Now();
}

void ReadingTime::End() {
  const auto all = taken();
  const std::lock_guard lock(mutex_);
  taken_ = all;
  thread_.reset();
}

std::optional<std::chrono::nanoseconds> ReadingTime::begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

std::chrono::nanoseconds ReadingTime::taken() const {
  const std::lock_guard lock(mutex_);
  return thread_ ? thread_->Now() - thread_began_ : taken_;
}

struct Fetcher::Impl : std::enable_shared_from_this<Fetcher::Impl> {
  using PageId = std::uint64_t;

  struct Page {
    FetchRequest request;  // its URL is the hop's, its times are what is left of them
    std::string own_url;   // the one that was asked for
    ReadPage read;
    std::function<void(Fetched)> done;
    int redirects = 0;
    bool has_snapshot = false;                            // of the browser, in place of a body
    std::shared_ptr<const PageMemory::Entry> remembered;  // of the hop
    PageVersion version;                                  // of what is being read
    std::chrono::nanoseconds posted{};                    // since boot, to the pool
    std::shared_ptr<ReadingTime> time;
    std::unique_ptr<base::Timer> timer;

    std::string MemoryKey() const { return request.reading_key + " " + request.url; }
  };

  Impl(base::EventLoop& l, net::HttpClient& c, base::ThreadPool& p, const net::AddressPolicy& a,
       PageMemory& m, base::ByteBudget& b, std::string agent, net::Renderer* r,
       ReadingLimits reading)
      : loop(l),
        client(c),
        pool(p),
        policy(a),
        memory(m),
        budget(b),
        user_agent(std::move(agent)),
        renderer(r),
        limits(reading) {}

  ~Impl() {
    for (auto& [id, page] : pages) {
      if (page.time) page.time->stop().Stop();
    }
  }

  void Start(FetchRequest request, ReadPage read, std::function<void(Fetched)> done);
  void Request(PageId id);
  void Render(PageId id, Page& page);
  void OnRendered(PageId id, net::RenderedPage rendered);
  void OnResponse(PageId id, net::HttpResponse response);
  void Redirect(PageId id, Page& page, const net::HttpResponse& response);
  void GoOn(PageId id, Page& page, std::string target);
  void Post(PageId id, Page& page, net::HttpResponse response);
  void OnRead(PageId id, Fetched fetched, std::string body_hash);
  void OnTimer(PageId id);
  void Finish(PageId id, Fetched fetched);

  Page* Find(PageId id) {
    const auto it = pages.find(id);
    return it == pages.end() ? nullptr : &it->second;
  }

  base::EventLoop& loop;
  net::HttpClient& client;
  base::ThreadPool& pool;
  const net::AddressPolicy& policy;
  PageMemory& memory;
  base::ByteBudget& budget;
  const std::string user_agent;
  net::Renderer* const renderer;  // null: pages are not rendered
  const ReadingLimits limits;
  const base::SystemClock clock;  // durations; and Retry-After where the answer has no date

  std::unordered_map<PageId, Page> pages;
  PageId last_id = 0;
};

void Fetcher::Impl::Start(FetchRequest request, ReadPage read, std::function<void(Fetched)> done) {
  base::Assert(loop.InLoopThread(), "pages are fetched on the loop's thread");
  if (auto checked = net::ParseTenantUrl(request.url, policy); checked.error) {
    return done(RefusedAddress(std::move(checked.error->message)));
  }
  const PageId id = ++last_id;
  Page page;
  page.request = std::move(request);
  page.own_url = page.request.url;
  page.read = std::move(read);
  page.done = std::move(done);
  pages.emplace(id, std::move(page));
  Request(id);
}

void Fetcher::Impl::Request(PageId id) {
  Page& page = pages.at(id);
  if (page.request.render) return Render(id, page);
  net::HttpRequest get;
  get.url = page.request.url;
  get.headers = {{"User-Agent", user_agent},
                 {"Accept", "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}};
  if (page.request.own_headers != nullptr && IsOwnSite(page.own_url, page.request.url)) {
    AddOwn(*page.request.own_headers, &get.headers);
  }
  page.remembered = page.request.reading_key.empty() ? nullptr : memory.Find(page.MemoryKey());
  if (page.remembered != nullptr) {
    for (auto& header : page.remembered->version.ConditionalHeaders()) {
      get.headers.push_back(std::move(header));
    }
  }
  get.trust = net::Trust::kTenant;
  get.org = page.request.org_id;
  get.timeout = page.request.timeout;
  get.wait_max = page.request.turn_wait_max;
  get.on_turn = page.request.on_turn;
  get.budget = &budget;
  get.body_bytes_max = page.request.body_bytes_max;
  client.Send(std::move(get), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, std::move(response));
  });
}

void Fetcher::Impl::Render(PageId id, Page& page) {
  base::Assert(renderer != nullptr, "a page is rendered where something renders");
  page.request.reading_key.clear();
  net::RenderRequest request;
  request.org_id = page.request.org_id;
  request.url = page.request.url + page.request.fragment;
  request.timeout = page.request.timeout;
  request.wait_for = page.request.wait_for;
  request.steps = page.request.steps;
  request.cookies = page.request.cookies;
  request.reads_cookies = page.request.on_cookies != nullptr || !page.request.steps.empty();
  request.wait_max = page.request.turn_wait_max;
  request.on_turn = page.request.on_turn;
  request.holds_open = page.request.on_open != nullptr;
  renderer->Render(std::move(request), [id, weak = weak_from_this()](net::RenderedPage rendered) {
    if (const auto self = weak.lock()) self->OnRendered(id, std::move(rendered));
  });
}

// Redirects have been followed, and each was checked by the proxy of the page.
void Fetcher::Impl::OnRendered(PageId id, net::RenderedPage rendered) {
  Page* page = Find(id);
  if (page == nullptr) return;
  const bool failed = rendered.response.error_class != net::HttpErrorClass::kNone;
  if (failed && rendered.open != nullptr && page->request.on_open) {
    page->request.on_open(std::move(rendered.open));
  }
  if (rendered.failed_step) return Finish(id, StepFailed(rendered));
  if (rendered.response.error_class == net::HttpErrorClass::kNone) {
    // A browser does not hand over what it would download: it is fetched as who is logged in there.
    if (rendered.kind == net::RenderedPage::Kind::kAsSent && rendered.response.body.empty()) {
      page->request.render = false;
      page->own_url = rendered.url;
      const std::string cookies = net::CookieHeader(rendered.cookies, rendered.url);
      if (!cookies.empty()) {
        page->request.own_headers = std::make_shared<const domain::RequestHeaders>(
            domain::RequestHeaders{{"Cookie", cookies}});
      }
      if (page->request.on_cookies) page->request.on_cookies(std::move(rendered.cookies));
      return GoOn(id, *page, std::move(rendered.url));
    }
    if (page->request.on_cookies) page->request.on_cookies(std::move(rendered.cookies));
    // What came is there already, so that it does not wait for room; the check is tried again.
    auto held = std::make_shared<base::ByteBudget::Holding>(budget.Open(page->request.org_id));
    if (!held->TryTake(rendered.response.body.size())) return Finish(id, OverloadedFailure());
    rendered.response.held = std::move(held);
    if (rendered.open != nullptr) page->request.on_open(std::move(rendered.open));
    page->request.url = std::move(rendered.url);
    page->has_snapshot = rendered.kind == net::RenderedPage::Kind::kSnapshot;
    page->redirects = net::kRedirectsMax;  // it ends with one only after as many
  }
  OnResponse(id, std::move(rendered.response));
}

void Fetcher::Impl::OnResponse(PageId id, net::HttpResponse response) {
  Page* page = Find(id);
  if (page == nullptr) return;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, TransportFailure(response, kWhom));
  }
  const auto took = std::chrono::ceil<milliseconds>(response.duration);
  page->request.timeout = std::max(page->request.timeout - took, milliseconds(1));
  page->request.thread_wait_max -= took;
  if (IsRedirect(response.status) && response.Header("location")) {
    return Redirect(id, *page, response);
  }
  if (response.status == 304 && page->remembered != nullptr && page->remembered->version.named()) {
    return Finish(id, page->remembered->reading);
  }
  if (IsChallengePage(response)) return Finish(id, Blocked(response, clock.Now()));
  if (response.status < 200 || response.status > 299) {
    return Finish(id, StatusFailure(response, kWhom, clock.Now()));
  }
  Post(id, *page, std::move(response));
}

void Fetcher::Impl::Redirect(PageId id, Page& page, const net::HttpResponse& response) {
  if (++page.redirects > net::kRedirectsMax) {
    return Finish(id,
                  Failure{"http_status",
                          fmt::format("The page redirects more than {} times.", net::kRedirectsMax),
                          false,
                          {}});
  }
  std::string target = ResolveReference(page.request.url, *response.Header("location"));
  if (target.empty()) {
    return Finish(id, RefusedAddress("The page redirects to what is no http or https address."));
  }
  GoOn(id, page, std::move(target));
}

void Fetcher::Impl::GoOn(PageId id, Page& page, std::string target) {
  if (const auto checked = net::ParseTenantUrl(target, policy); checked.error) {
    return Finish(id,
                  RefusedAddress(fmt::format("The page redirects to an address that is refused: {}",
                                             checked.error->message)));
  }
  page.request.url = std::move(target);
  Request(id);
}

// The page belongs to the pool from here on; the loop keeps its time and waits for OnRead.
void Fetcher::Impl::Post(PageId id, Page& page, net::HttpResponse response) {
  FetchedPage fetched{std::move(response.body),
                      std::string(response.Header("content-type").value_or("")), page.request.url};
  page.version = VersionOf(response).value_or(PageVersion{});
  page.time = std::make_shared<ReadingTime>();
  page.timer = std::make_unique<base::Timer>(loop, [this, id] { OnTimer(id); });
  page.timer->Start(std::clamp(page.request.thread_wait_max, milliseconds(1), limits.processor));
  page.posted = clock.SinceBoot();
  const bool posted = pool.Post(
      page.request.org_id,
      [id, weak = weak_from_this(), &to = loop, read = page.read, time = page.time,
       remembered = page.remembered, snapshot = page.has_snapshot, status = response.status,
       bytes_max = page.request.body_bytes_max, fetched = std::move(fetched),
       held = std::move(response.held)]() mutable {
        time->Begin();
        std::string hash = HashOfBody(fetched.content_type, fetched.body);
        const bool same = remembered != nullptr && remembered->body_hash == hash;
        std::optional<Failure> unread;
        if (snapshot) unread = ReadSnapshot(&fetched, status, bytes_max);
        fetched.rendered = snapshot;
        Fetched result = unread ? Fetched(std::move(*unread))
                         : same ? remembered->reading
                                : ReadGuarded(read, fetched, *time);
        time->End();
        fetched = {};
        held.reset();
        to.Post([id, weak, same, result = std::move(result), hash = std::move(hash)]() mutable {
          const auto self = weak.lock();
          if (self == nullptr) return;
          if (same) self->memory.CountSameBody();
          self->OnRead(id, std::move(result), std::move(hash));
        });
      });
  if (!posted) Finish(id, OverloadedFailure());
}

void Fetcher::Impl::OnRead(PageId id, Fetched fetched, std::string body_hash) {
  Page* page = Find(id);
  if (page == nullptr) return;
  const auto begun = page->time->begun();
  base::Assert(begun.has_value(), "a page that was read has begun to be read");
  if (page->request.on_turn) {
    page->request.on_turn(std::chrono::floor<milliseconds>(*begun - page->posted));
  }
  const auto* reading = std::get_if<std::shared_ptr<const Reading>>(&fetched);
  if (reading == nullptr) {
    if (page->remembered != nullptr) memory.Forget(page->MemoryKey());
  } else if (!page->request.reading_key.empty()) {
    memory.Keep(page->MemoryKey(), std::make_shared<const PageMemory::Entry>(PageMemory::Entry{
                                       std::move(page->version), *reading, std::move(body_hash)}));
  }
  Finish(id, std::move(fetched));
}

// A reading has its time from its beginning on; until then thread_wait_max bounds the wait.
void Fetcher::Impl::OnTimer(PageId id) {
  Page* page = Find(id);
  if (page == nullptr) return;
  const auto now = clock.SinceBoot();
  const auto begun = page->time->begun();
  const auto by_processor = limits.processor - page->time->taken();
  const auto by_wall =
      (begun ? *begun + limits.wall : page->posted + page->request.thread_wait_max) - now;
  const auto left = begun ? std::min<std::chrono::nanoseconds>(by_processor, by_wall) : by_wall;
  if (left.count() > 0) {
    return page->timer->Start(std::min(std::chrono::ceil<milliseconds>(left), limits.processor));
  }
  page->time->stop().Stop();
  if (!begun || by_processor.count() > 0) return Finish(id, OverloadedFailure());
  Finish(id, Failure{"bad_content", std::string(page->request.too_slow), false, {}});
}

void Fetcher::Impl::Finish(PageId id, Fetched fetched) {
  const auto it = pages.find(id);
  if (it == pages.end()) return;
  const auto done = std::move(it->second.done);
  pages.erase(it);
  done(std::move(fetched));
}

Fetcher::Fetcher(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
                 const net::AddressPolicy& policy, PageMemory& memory, base::ByteBudget& budget,
                 std::string user_agent, net::Renderer* renderer, ReadingLimits limits)
    : impl_(std::make_shared<Impl>(loop, client, pool, policy, memory, budget,
                                   std::move(user_agent), renderer, limits)) {}

Fetcher::~Fetcher() = default;

bool Fetcher::Renders() const {
  return impl_->renderer != nullptr && impl_->renderer->MayRender();
}

std::optional<Failure> Fetcher::CheckUrl(const std::string& url) const {
  auto checked = net::ParseTenantUrl(url, impl_->policy);
  if (!checked.error) return std::nullopt;
  return RefusedAddress(std::move(checked.error->message));
}

void Fetcher::Fetch(FetchRequest request, ReadPage read, std::function<void(Fetched)> done) {
  impl_->Start(std::move(request), std::move(read), std::move(done));
}

}  // namespace vedette::html
