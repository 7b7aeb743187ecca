#include "worker/providers/site_expander.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "config/lookup_config.h"
#include "html/page_forms.h"
#include "html/robots.h"
#include "html/url_reference.h"
#include "net/url.h"
#include "worker/providers/site_crawler.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

constexpr double kStated = 8;  // a page says so of its own site
constexpr double kLinked = 5;

// Collects findings about one subject, each thing once.
class Collector {
 public:
  Collector(const base::Uuid& investigation_id, const Subject& subject, const std::string& url)
      : investigation_id_(investigation_id), subject_(subject), url_(url) {}

  // False where the value is none of its type, or was there before.
  bool Add(std::string_view predicate, SubjectKind type, std::string_view value, double confidence,
           std::string evidence) {
    auto read = domain::ReadSubject(type, value);
    auto* to = std::get_if<Subject>(&read);
    if (to == nullptr || *to == subject_ || !seen_.insert(*to).second) return false;
    Finding what;
    what.evidence = std::move(evidence);
    what.sources = {url_};
    what.provider = "website";
    what.confidence = confidence;
    auto both = domain::RelationTo(investigation_id_, subject_, predicate, *to, std::move(what));
    std::move(both.begin(), both.end(), std::back_inserter(findings));
    return true;
  }

  std::vector<Finding> findings;

 private:
  const base::Uuid& investigation_id_;
  const Subject& subject_;
  const std::string& url_;
  std::set<Subject> seen_;
};

}  // namespace

std::vector<Finding> PageFindings(const base::Uuid& investigation_id, const Subject& subject,
                                  const std::string& url, const html::AddressesOnPage& page) {
  Collector found(investigation_id, subject, url);
  for (const html::PagePerson& person : page.persons) {
    found.Add("person", SubjectKind::kPerson, person.name, kStated,
              "The page's structured data names " + person.name + ".");
  }
  for (const std::string& address : page.addresses) {
    found.Add("email", SubjectKind::kEmail, address, kStated,
              "The page has the address " + address + ".");
  }
  std::size_t links = 0;
  for (const html::PageLink& link : page.links) {
    if (links == kPageLinksFoundMax) break;
    const std::string target = html::ResolveReference(url, link.url);
    net::UrlParts parts;
    std::string error;
    if (target.empty() || !net::SplitUrl(target, &parts, &error)) continue;
    const std::string evidence = "The page links to " + target + ".";
    const bool added =
        html::SameOrigin(target, url)
            ? found.Add("page", SubjectKind::kUrl, target, kLinked, evidence)
            : found.Add("links_to", SubjectKind::kDomain, parts.host, kLinked, evidence);
    if (added) ++links;
  }
  return std::move(found.findings);
}

namespace {

using std::chrono::milliseconds;

// How long one page may wait for its turn and for a thread, within the time of the subject.
constexpr milliseconds kTurnWaitMax{10'000};

struct FindingsReading final : html::Reading {
  std::vector<domain::Finding> findings;
  std::size_t bytes() const override { return sizeof *this; }
};

// This runs on a thread of the pool, and reads nothing but its arguments.
html::Fetched ReadPageOf(const ExpandRequest& request, const html::FetchedPage& page,
                         html::ReadingTime& time) {
  auto reading = std::make_shared<FindingsReading>();
  const html::PageForms forms(page);
  if (!forms.IsBinary()) {
    reading->findings = PageFindings(request.investigation_id, request.subject, page.url,
                                     html::FindAddressesOnPage(forms.text(), time.stop()));
  }
  return std::shared_ptr<const html::Reading>(std::move(reading));
}

ExpandAnswer NothingFound() {
  return std::vector<domain::Finding>();
}

}  // namespace

struct SiteExpander::Dependencies {
  const base::Clock& clock;
  html::Fetcher& fetcher;
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
    Fetch(url_.substr(0, path) + "/robots.txt", html::ReadRobotsFor(std::string(kRobotsProduct)),
          &Visit::OnRobots);
  }

 private:
  void OnRobots(html::Fetched fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      if (SaysNothing(*failure)) return End(*failure);
      // A status says that the host is there, and without the file everything is allowed; a server
      // that cannot give it now allows nothing.
      if (failure->error_class != "http_status" || failure->retryable) return End(NothingFound());
    } else {
      if (!html::RobotsOf(fetched).Allows(path_)) return End(NothingFound());
    }
    auto read = [request = request_](const html::FetchedPage& page, html::ReadingTime& time) {
      return ReadPageOf(*request, page, time);
    };
    Fetch(url_, std::move(read), &Visit::OnPage);
  }

  void OnPage(html::Fetched fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      return End(SaysNothing(*failure) ? ExpandAnswer(*failure) : NothingFound());
    }
    const auto& reading = *std::get<std::shared_ptr<const html::Reading>>(fetched);
    End(static_cast<const FindingsReading&>(reading).findings);
  }

  void Fetch(const std::string& url, html::ReadPage read, void (Visit::*then)(html::Fetched)) {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    const auto left = std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot());
    if (left <= milliseconds(0)) return End(NothingFound());
    html::FetchRequest fetch;
    fetch.org_id = request_->org_id;
    fetch.url = url;
    fetch.body_bytes_max = static_cast<std::size_t>(deps->config.page_bytes_max);
    fetch.timeout = left;
    fetch.turn_wait_max = std::min(left, kTurnWaitMax);
    fetch.thread_wait_max = std::min(left, kTurnWaitMax);
    FetchHeld(deps->fetcher, std::move(fetch), request_->may_call, std::move(read),
              [self = shared_from_this(), then](html::Fetched fetched) {
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

SiteExpander::SiteExpander(const base::Clock& clock, html::Fetcher& fetcher,
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
