#include "worker/providers/website_provider.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "domain/email/address.h"
#include "domain/email/suppression.h"
#include "pages/page_forms.h"
#include "pages/robots.h"
#include "pages/url_reference.h"
#include "worker/providers/site_reading.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

// How long one page may wait for its turn and for a thread, within the time of the site.
constexpr milliseconds kTurnWaitMax{10'000};
// Pages that are remembered to be read next.
constexpr std::size_t kNextPagesMax = 64;

struct RobotsReading final : pages::Reading {
  pages::Robots robots;
  std::size_t bytes() const override { return sizeof *this; }
};

struct SiteReading final : pages::Reading {
  domain::Candidates candidates;
  std::vector<std::string> next;
  std::string url;
  std::size_t bytes() const override { return sizeof *this; }
};

pages::Fetched ReadRobots(const pages::FetchedPage& page, pages::ReadingTime&) {
  auto reading = std::make_shared<RobotsReading>();
  reading->robots = pages::Robots::Parse(page.body, WebsiteProvider::kProduct);
  return std::shared_ptr<const pages::Reading>(std::move(reading));
}

// Runs on a thread of the pool; reads nothing but its arguments.
pages::Fetched ReadSite(const domain::Person& person, domain::FindMode mode,
                        const std::string& origin, const pages::FetchedPage& page,
                        pages::ReadingTime& time) {
  auto reading = std::make_shared<SiteReading>();
  reading->url = page.url;
  const pages::PageForms forms(page);
  if (!forms.IsBinary()) {
    const auto found = pages::FindAddressesOnPage(forms.text(), time.stop());
    reading->candidates = CandidatesOnPage(person, mode, page.url, found);
    reading->next = PeoplePages(page.url, origin, found.links);
    if (reading->next.size() > kNextPagesMax) reading->next.resize(kNextPagesMax);
  }
  return std::shared_ptr<const pages::Reading>(std::move(reading));
}

// What this process lacks, so that another provider, or a later try, has to do.
bool IsOurs(const domain::Failure& failure) {
  return failure.error_class == "overloaded" || failure.error_class == "shutdown";
}

domain::Failure Unheld() {
  return {std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}};
}

}  // namespace

struct WebsiteProvider::Parts {
  const base::Clock& clock;
  pages::Fetcher& fetcher;
  const config::EmailConfig config;
  const OriginOf origin_of;
};

// One lead's walk through one site. It lives as long as a page of it is under way.
class WebsiteProvider::Walk : public std::enable_shared_from_this<Walk> {
 public:
  using Done = std::function<void(LookupAnswer)>;

  Walk(std::weak_ptr<const Parts> parts, LookupRequest request, std::string domain, Done done)
      : parts_(std::move(parts)),
        request_(std::move(request)),
        domain_(std::move(domain)),
        done_(std::move(done)) {
    if (const auto known = parts_.lock()) {
      const milliseconds time = std::min(known->config.site_timeout_ms, request_.timeout);
      deadline_ = known->clock.SinceBoot() + time;
      pages_left_ = known->config.pages_max;
    }
  }

  void Begin() { AskRobots(domain_); }

 private:
  void AskRobots(const std::string& host);
  void OnRobots(pages::Fetched fetched);
  void NextPage();
  void OnPage(pages::Fetched fetched);
  // False where the time is over, or the provider has ended.
  bool Fetch(const std::string& url, pages::ReadPage read,
             void (Walk::*then)(pages::Fetched fetched));
  void End(LookupAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const Parts> parts_;
  const LookupRequest request_;
  const std::string domain_;
  Done done_;
  std::chrono::nanoseconds deadline_{};
  int pages_left_ = 0;
  std::string host_;    // the domain, or www below it
  std::string origin_;  // of the domain
  pages::Robots robots_;
  std::deque<std::string> next_;
  std::vector<std::string> asked_;
};

void WebsiteProvider::Walk::AskRobots(const std::string& host) {
  host_ = host;
  const auto parts = parts_.lock();
  if (parts == nullptr) return;
  const bool is_asked = Fetch(parts->origin_of(host) + "/robots.txt", ReadRobots, &Walk::OnRobots);
  if (!is_asked) End(Nothing{});
}

void WebsiteProvider::Walk::OnRobots(pages::Fetched fetched) {
  const auto parts = parts_.lock();
  if (parts == nullptr) return;
  if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
    if (IsOurs(*failure)) return End(*failure);
    // A status says that the host is there. Without the file everything is allowed; a server that
    // cannot give it now allows nothing.
    const bool is_there = failure->error_class == "http_status";
    if (is_there && failure->retryable) return End(Nothing{});
    if (!is_there && host_ == domain_) return AskRobots("www." + domain_);
    if (!is_there) return End(Nothing{});
  } else {
    robots_ =
        static_cast<const RobotsReading&>(*std::get<std::shared_ptr<const pages::Reading>>(fetched))
            .robots;
  }
  origin_ = parts->origin_of(domain_);
  next_.push_back(parts->origin_of(host_) + '/');
  NextPage();
}

void WebsiteProvider::Walk::NextPage() {
  if (!request_.MayCall()) return End(Unheld());
  while (pages_left_ > 0 && !next_.empty()) {
    const std::string url = std::move(next_.front());
    next_.pop_front();
    if (std::find(asked_.begin(), asked_.end(), url) != asked_.end()) continue;
    asked_.push_back(url);
    const auto path = url.find('/', url.find("://") + 3);
    if (!robots_.Allows(path == std::string::npos ? "/" : std::string_view(url).substr(path))) {
      continue;
    }
    --pages_left_;
    auto read = [person = request_.person, mode = request_.mode, origin = origin_](
                    const pages::FetchedPage& page, pages::ReadingTime& time) {
      return ReadSite(*person, mode, origin, page, time);
    };
    if (Fetch(url, std::move(read), &Walk::OnPage)) return;
    break;
  }
  End(Nothing{});
}

void WebsiteProvider::Walk::OnPage(pages::Fetched fetched) {
  if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
    if (IsOurs(*failure)) return End(*failure);
    return NextPage();
  }
  const auto& reading =
      static_cast<const SiteReading&>(*std::get<std::shared_ptr<const pages::Reading>>(fetched));
  if (!reading.candidates.empty()) return End(reading.candidates);
  // robots.txt speaks for its own host, so that pages of other hosts are left alone.
  for (const std::string& url : reading.next) {
    if (next_.size() < kNextPagesMax && pages::SameOrigin(url, reading.url)) next_.push_back(url);
  }
  NextPage();
}

bool WebsiteProvider::Walk::Fetch(const std::string& url, pages::ReadPage read,
                                  void (Walk::*then)(pages::Fetched fetched)) {
  const auto parts = parts_.lock();
  if (parts == nullptr) return false;
  const auto left = std::chrono::floor<milliseconds>(deadline_ - parts->clock.SinceBoot());
  if (left <= milliseconds(0)) return false;
  pages::FetchRequest fetch;
  fetch.org_id = request_.org_id;
  fetch.url = url;
  fetch.body_bytes_max = static_cast<std::size_t>(parts->config.page_bytes_max);
  fetch.timeout = left;
  fetch.turn_wait_max = std::min(left, kTurnWaitMax);
  fetch.thread_wait_max = std::min(left, kTurnWaitMax);
  parts->fetcher.Fetch(std::move(fetch), std::move(read),
                       [self = shared_from_this(), then](pages::Fetched fetched) {
                         // The provider has ended: its callbacks are dropped.
                         if (self->parts_.expired()) return;
                         ((*self).*then)(std::move(fetched));
                       });
  return true;
}

WebsiteProvider::WebsiteProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                                 const config::EmailConfig& config, OriginOf origin_of)
    : parts_(std::make_shared<const Parts>(Parts{
          clock, fetcher, config,
          origin_of ? std::move(origin_of)
                    : OriginOf([](const std::string& host) { return "https://" + host; })})) {}

WebsiteProvider::~WebsiteProvider() = default;

void WebsiteProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string domain = domain::CompanyDomain(*request.person);
  if (domain.empty() || domain::IsFreeMailboxDomain(domain)) return done(Nothing{});
  std::make_shared<Walk>(parts_, std::move(request), domain, std::move(done))->Begin();
}

}  // namespace vedette::worker
