#include "worker/providers/site_expander.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "config/lookup_config.h"
#include "net/url.h"
#include "pages/page_forms.h"
#include "pages/robots_reading.h"
#include "worker/providers/held_fetch.h"
#include "worker/providers/page_findings.h"
#include "worker/providers/site_walk.h"

namespace vedette::worker {
namespace {

using domain::SubjectKind;
using std::chrono::milliseconds;

// How long one page may wait for its turn and for a thread, within the time of the subject.
constexpr milliseconds kTurnWaitMax{10'000};

struct FindingsReading final : pages::Reading {
  std::vector<domain::Finding> findings;
  std::size_t bytes() const override { return sizeof *this; }
};

// This runs on a thread of the pool, and reads nothing but its arguments.
pages::Fetched ReadPageOf(const ExpandRequest& request, const pages::FetchedPage& page,
                          pages::ReadingTime& time) {
  auto reading = std::make_shared<FindingsReading>();
  const pages::PageForms forms(page);
  if (!forms.IsBinary()) {
    reading->findings = PageFindings(request.investigation_id, request.subject, page.url,
                                     pages::FindAddressesOnPage(forms.text(), time.stop()));
  }
  return std::shared_ptr<const pages::Reading>(std::move(reading));
}

ExpandAnswer NothingFound() {
  return std::vector<domain::Finding>();
}

}  // namespace

struct SiteExpander::Dependencies {
  const base::Clock& clock;
  pages::Fetcher& fetcher;
  const config::EmailConfig config;
  const OriginOf origin_of;
};

// One page's way. It lives as long as a request of it is under way.
class SiteExpander::Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(std::weak_ptr<const Dependencies> deps, ExpandRequest request, std::string url,
        std::function<void(ExpandAnswer)> done)
      : deps_(std::move(deps)),
        request_(std::make_shared<const ExpandRequest>(std::move(request))),
        url_(std::move(url)),
        done_(std::move(done)) {}

  void Begin() {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    deadline_ = deps->clock.SinceBoot() + std::min(deps->config.site_timeout_ms, request_->timeout);
    const std::size_t path = url_.find('/', url_.find("://") + 3);
    path_ = path == std::string::npos ? "/" : url_.substr(path);
    Fetch(url_.substr(0, path) + "/robots.txt", pages::ReadRobotsFor(std::string(kRobotsProduct)),
          &Visit::OnRobots);
  }

 private:
  void OnRobots(pages::Fetched fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      if (SaysNothing(*failure)) return End(*failure);
      // A status says that the host is there, and without the file everything is allowed; a server
      // that cannot give it now allows nothing.
      if (failure->error_class != "http_status" || failure->retryable) return End(NothingFound());
    } else {
      if (!pages::RobotsOf(fetched).Allows(path_)) return End(NothingFound());
    }
    auto read = [request = request_](const pages::FetchedPage& page, pages::ReadingTime& time) {
      return ReadPageOf(*request, page, time);
    };
    Fetch(url_, std::move(read), &Visit::OnPage);
  }

  void OnPage(pages::Fetched fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      return End(SaysNothing(*failure) ? ExpandAnswer(*failure) : NothingFound());
    }
    const auto& reading = *std::get<std::shared_ptr<const pages::Reading>>(fetched);
    End(static_cast<const FindingsReading&>(reading).findings);
  }

  void Fetch(const std::string& url, pages::ReadPage read, void (Visit::*then)(pages::Fetched)) {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    const auto left = std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot());
    if (left <= milliseconds(0)) return End(NothingFound());
    pages::FetchRequest fetch;
    fetch.org_id = request_->org_id;
    fetch.url = url;
    fetch.body_bytes_max = static_cast<std::size_t>(deps->config.page_bytes_max);
    fetch.timeout = left;
    fetch.turn_wait_max = std::min(left, kTurnWaitMax);
    fetch.thread_wait_max = std::min(left, kTurnWaitMax);
    FetchHeld(deps->fetcher, std::move(fetch), request_->may_call, std::move(read),
              [self = shared_from_this(), then](pages::Fetched fetched) {
                if (self->deps_.expired()) return;  // the provider has ended
                ((*self).*then)(std::move(fetched));
              });
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const Dependencies> deps_;
  const std::shared_ptr<const ExpandRequest> request_;
  const std::string url_;
  std::function<void(ExpandAnswer)> done_;
  std::string path_;
  std::chrono::nanoseconds deadline_{};
};

SiteExpander::SiteExpander(const base::Clock& clock, pages::Fetcher& fetcher,
                           const config::EmailConfig& config, OriginOf origin_of)
    : deps_(std::make_shared<const Dependencies>(Dependencies{
          clock, fetcher, config,
          origin_of ? std::move(origin_of)
                    : OriginOf([](const std::string& host) { return "https://" + host; })})) {}

SiteExpander::~SiteExpander() = default;

bool SiteExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kDomain || type == SubjectKind::kUrl;
}

void SiteExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  const std::string& value = request.subject.value;
  std::string url =
      request.subject.type == SubjectKind::kUrl ? value : deps_->origin_of(value) + "/";
  std::make_shared<Visit>(deps_, std::move(request), std::move(url), std::move(done))->Begin();
}

}  // namespace vedette::worker
