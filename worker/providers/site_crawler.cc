#include "worker/providers/site_crawler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "html/http_failure.h"
#include "html/robots.h"
#include "html/url_reference.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

void FetchHeld(html::Fetcher& fetcher, html::FetchRequest request, const MayCall& may_call,
               html::ReadPage read, std::function<void(html::Fetched)> done) {
  // The fetcher calls a turn that was not taken `overloaded`.
  auto refused = std::make_shared<bool>(false);
  request.on_turn = [may_call, refused](std::chrono::milliseconds) {
    *refused = !may_call();
    return !*refused;
  };
  fetcher.Fetch(std::move(request), std::move(read),
                [refused, done = std::move(done)](html::Fetched fetched) {
                  if (*refused && std::holds_alternative<domain::Failure>(fetched)) {
                    fetched = LookupUnheld();
                  }
                  done(std::move(fetched));
                });
}

bool SaysNothing(const domain::Failure& failure) {
  return html::IsOfProcess(failure) || failure.error_class == kLookupUnheld;
}

namespace {

using std::chrono::milliseconds;

// How long one page may wait for its turn and for a thread, within the time of the crawl.
constexpr milliseconds kTurnWaitMax{10'000};

std::string_view PathOf(std::string_view url) {
  const auto path = url.find('/', url.find("://") + 3);
  return path == std::string_view::npos ? "/" : url.substr(path);
}

}  // namespace

OriginOf OverHttps() {
  return [](const std::string& host) { return "https://" + host; };
}

struct SiteCrawler::Dependencies {
  const base::Clock& clock;
  html::Fetcher& fetcher;
};

// It lives as long as a page of it is under way.
class SiteCrawler::Crawl : public std::enable_shared_from_this<Crawl> {
 public:
  Crawl(const std::shared_ptr<const Dependencies>& deps, CrawlRequest request, Read read,
        OnPage on_page, Done done)
      : deps_(deps),
        request_(std::move(request)),
        deadline_(deps->clock.SinceBoot() + request_.timeout),
        read_(std::move(read)),
        on_page_(std::move(on_page)),
        done_(std::move(done)) {}

  // Begins the next visit, or ends.
  void NextVisit();

 private:
  void AskRobots();
  void OnRobots(html::Fetched fetched);
  void NextPage();
  void OnPageRead(html::Fetched fetched);
  // False where the time is over, or the crawler has ended.
  bool Fetch(const std::string& url, html::ReadPage read,
             void (Crawl::*then)(html::Fetched fetched));
  void PassOver(const domain::Failure& failure) {
    Tell(failure);
    NextVisit();
  }
  // What is refused or not there has said so; what may be there later has said nothing.
  void Tell(const domain::Failure& failure) const {
    if (failure.retryable && request_.on_unread) request_.on_unread(failure);
  }
  const SiteVisit& visit() const { return request_.visits[visits_begun_ - 1]; }
  void End(std::optional<domain::Failure> failure) {
    std::exchange(done_, nullptr)(std::move(failure));
  }

  const std::weak_ptr<const Dependencies> deps_;
  const CrawlRequest request_;
  const std::chrono::nanoseconds deadline_;
  const Read read_;
  const OnPage on_page_;
  Done done_;
  std::size_t visits_begun_ = 0;
  std::size_t origin_ = 0;  // of the visit
  int pages_left_ = 0;
  html::Robots robots_;
  std::deque<std::string> next_;
  std::vector<std::string> asked_;  // URLs of all visits
};

void SiteCrawler::Crawl::NextVisit() {
  if (visits_begun_ == request_.visits.size()) return End(std::nullopt);
  ++visits_begun_;
  origin_ = 0;
  pages_left_ = visit().pages_max;
  next_.clear();
  AskRobots();
}

void SiteCrawler::Crawl::AskRobots() {
  if (!request_.may_call()) return End(LookupUnheld());
  robots_ = html::Robots();
  const bool is_asked = Fetch(visit().origins[origin_] + "/robots.txt",
                              html::ReadRobotsFor(std::string(kRobotsProduct)), &Crawl::OnRobots);
  if (!is_asked) End(std::nullopt);
}

void SiteCrawler::Crawl::OnRobots(html::Fetched fetched) {
  if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
    if (SaysNothing(*failure)) return End(*failure);
    // A status says that the host is there. Without the file everything is allowed; a server that
    // cannot give it now allows nothing.
    const bool is_there = failure->error_class == "http_status";
    if (is_there && failure->retryable) return PassOver(*failure);
    if (!is_there && origin_ + 1 < visit().origins.size()) {
      ++origin_;
      return AskRobots();
    }
    if (!is_there) return PassOver(*failure);
  } else {
    robots_ = html::RobotsOf(fetched);
  }
  next_.push_back(visit().origins[origin_] + visit().path);
  NextPage();
}

void SiteCrawler::Crawl::NextPage() {
  if (!request_.may_call()) return End(LookupUnheld());
  while (pages_left_ > 0 && !next_.empty()) {
    const std::string url = std::move(next_.front());
    next_.pop_front();
    if (std::find(asked_.begin(), asked_.end(), url) != asked_.end()) continue;
    asked_.push_back(url);
    if (!robots_.Allows(PathOf(url))) continue;
    --pages_left_;
    auto read = [read = read_](const html::FetchedPage& page,
                               html::ReadingTime& time) -> html::Fetched {
      auto reading = read(page, time);
      if (reading == nullptr) reading = std::make_shared<const SitePage>();
      return std::shared_ptr<const html::Reading>(std::move(reading));
    };
    if (Fetch(url, std::move(read), &Crawl::OnPageRead)) return;
    return End(std::nullopt);
  }
  NextVisit();
}

void SiteCrawler::Crawl::OnPageRead(html::Fetched fetched) {
  if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
    if (SaysNothing(*failure)) return End(*failure);
    Tell(*failure);
    return NextPage();
  }
  const auto& page =
      static_cast<const SitePage&>(*std::get<std::shared_ptr<const html::Reading>>(fetched));
  if (on_page_(page) == Go::kEnough) return End(std::nullopt);
  for (const std::string& url : page.next) {
    if (next_.size() < kNextPagesMax && html::SameOrigin(url, page.url)) next_.push_back(url);
  }
  NextPage();
}

bool SiteCrawler::Crawl::Fetch(const std::string& url, html::ReadPage read,
                               void (Crawl::*then)(html::Fetched fetched)) {
  const auto deps = deps_.lock();
  if (deps == nullptr) return false;
  const auto left = std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot());
  if (left <= milliseconds(0)) return false;
  html::FetchRequest fetch;
  fetch.org_id = request_.org_id;
  fetch.url = url;
  fetch.body_bytes_max = request_.page_bytes_max;
  fetch.timeout = left;
  fetch.turn_wait_max = std::min(left, kTurnWaitMax);
  fetch.thread_wait_max = std::min(left, kTurnWaitMax);
  FetchHeld(deps->fetcher, std::move(fetch), request_.may_call, std::move(read),
            [self = shared_from_this(), then](html::Fetched fetched) {
              // The crawler has ended: its callbacks are dropped.
              if (self->deps_.expired()) return;
              ((*self).*then)(std::move(fetched));
            });
  return true;
}

SiteCrawler::SiteCrawler(const base::Clock& clock, html::Fetcher& fetcher)
    : deps_(std::make_shared<const Dependencies>(Dependencies{clock, fetcher})) {}

SiteCrawler::~SiteCrawler() = default;

void SiteCrawler::Start(CrawlRequest request, Read read, OnPage on_page, Done done) {
  std::make_shared<Crawl>(deps_, std::move(request), std::move(read), std::move(on_page),
                          std::move(done))
      ->NextVisit();
}

}  // namespace vedette::worker
