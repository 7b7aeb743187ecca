#include "worker/providers/site_providers.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/lookup_config.h"
#include "domain/email/address.h"
#include "domain/email/suppression.h"
#include "domain/people/age_claims.h"
#include "html/page_forms.h"
#include "worker/providers/people_on_pages.h"

namespace vedette::worker {
namespace {

struct CandidatesPage final : SitePage {
  domain::Candidates candidates;
};

struct PersonPage final : SitePage {
  domain::PersonFound person;
};

void TakeNext(std::vector<std::string> next, SitePage* page) {
  page->next = std::move(next);
  if (page->next.size() > kNextPagesMax) page->next.resize(kNextPagesMax);
}

}  // namespace

WebsiteProvider::WebsiteProvider(const base::Clock& clock, html::Fetcher& fetcher,
                                 const config::EmailConfig& config, OriginOf origin_of)
    : config_(config), origin_of_(std::move(origin_of)), crawler_(clock, fetcher) {}

void WebsiteProvider::Start(LookupRequest request, Done done) {
  if (request.lookup == Lookup::kReverseEmail) return Reverse(request, std::move(done));
  Find(request, std::move(done));
}

CrawlRequest WebsiteProvider::CrawlOf(const LookupRequest& request,
                                      const std::string& domain) const {
  CrawlRequest crawl;
  crawl.org_id = request.org_id;
  crawl.visits = {{{origin_of_(domain), origin_of_("www." + domain)}, "/", config_.pages_max}};
  crawl.timeout = std::min(config_.site_timeout_ms, request.timeout);
  crawl.page_bytes_max = static_cast<std::size_t>(config_.page_bytes_max);
  crawl.may_call = request.may_call;
  return crawl;
}

void WebsiteProvider::Find(const LookupRequest& request, Done done) {
  const std::string domain = domain::CompanyDomain(*request.person);
  if (domain.empty() || domain::IsFreeMailboxDomain(domain)) return done(Nothing{});
  auto read = [person = request.person, mode = request.mode, origin = origin_of_(domain)](
                  const html::FetchedPage& fetched,
                  html::ReadingTime& time) -> std::shared_ptr<const SitePage> {
    const html::PageForms forms(fetched);
    if (forms.IsBinary()) return nullptr;
    auto page = std::make_shared<CandidatesPage>();
    page->url = fetched.url;
    const auto found = html::FindAddressesOnPage(forms.text(), time.stop());
    page->candidates = CandidatesOnPage(*person, mode, fetched.url, found);
    TakeNext(PeoplePages(fetched.url, origin, found.links), page.get());
    return page;
  };
  auto best = std::make_shared<domain::Candidates>();
  crawler_.Start(
      CrawlOf(request, domain), std::move(read),
      [best](const SitePage& page) {
        const auto* found = dynamic_cast<const CandidatesPage*>(&page);
        if (found != nullptr) *best = found->candidates;
        return best->empty() ? SiteCrawler::Go::kOn : SiteCrawler::Go::kEnough;
      },
      [best, done = std::move(done)](std::optional<domain::Failure> failure) {
        if (failure) return done(std::move(*failure));
        if (best->empty()) return done(Nothing{});
        done(std::move(*best));
      });
}

void WebsiteProvider::Reverse(const LookupRequest& request, Done done) {
  const auto address = domain::ParseAddress(request.address);
  const std::string domain = address ? domain::CompanyDomainOf(*address) : std::string();
  if (domain.empty()) return done(Nothing{});
  auto read = [asked = *address, origin = origin_of_(domain)](
                  const html::FetchedPage& fetched,
                  html::ReadingTime& time) -> std::shared_ptr<const SitePage> {
    const html::PageForms forms(fetched);
    if (forms.IsBinary()) return nullptr;
    auto page = std::make_shared<PersonPage>();
    page->url = fetched.url;
    const auto found = html::FindAddressesOnPage(forms.text(), time.stop());
    const auto cards = html::CardsOnPage(forms.text(), time.stop());
    page->person = PersonBehind(asked, fetched.url, found.persons, cards);
    TakeNext(PeoplePages(fetched.url, origin, found.links), page.get());
    return page;
  };
  auto best = std::make_shared<domain::PersonFound>();
  crawler_.Start(
      CrawlOf(request, domain), std::move(read),
      [best](const SitePage& page) {
        const auto* found = dynamic_cast<const PersonPage*>(&page);
        if (found != nullptr) AddPageOfPerson(found->person, best.get());
        return best->name.empty() ? SiteCrawler::Go::kOn : SiteCrawler::Go::kEnough;
      },
      [best, done = std::move(done)](std::optional<domain::Failure> failure) {
        if (failure) return done(std::move(*failure));
        if (best->name.empty() && best->candidates.empty()) return done(Nothing{});
        done(std::move(*best));
      });
}

namespace {

struct ClaimsPage final : SitePage {
  domain::AgeClaims claims;
};

}  // namespace

domain::AgeClaims ClaimsOfSubjectPage(const domain::AgeSubject& subject, const SubjectPage& page) {
  std::vector<domain::StructuredPerson> persons;
  persons.reserve(page.persons.size());
  for (const html::PagePerson& person : page.persons) {
    persons.push_back({person.name, person.birth, person.death});
  }
  return domain::ClaimsOfPage(subject, page.Facts(), persons, page.published);
}

PagesProvider::PagesProvider(const base::Clock& clock, html::Fetcher& fetcher,
                             const config::EmailConfig& config, OriginOf origin_of)
    : config_(config), origin_of_(std::move(origin_of)), crawler_(clock, fetcher) {}

void PagesProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  CrawlRequest crawl;
  crawl.visits = VisitsOf(request, config_.pages_max, origin_of_);
  if (request.lookup != Lookup::kVerifyAge || crawl.visits.empty()) return done(Nothing{});
  crawl.org_id = request.org_id;
  crawl.timeout = std::min(config_.site_timeout_ms, request.timeout);
  crawl.page_bytes_max = static_cast<std::size_t>(config_.page_bytes_max);
  crawl.may_call = request.may_call;
  auto read = [subject = domain::AgeSubject{*request.person, request.urls}](
                  const html::FetchedPage& fetched,
                  html::ReadingTime& time) -> std::shared_ptr<const SitePage> {
    auto found = ReadSubjectPage(fetched, time);
    if (!found) return nullptr;
    auto page = std::make_shared<ClaimsPage>();
    page->url = fetched.url;
    page->claims = ClaimsOfSubjectPage(subject, *found);
    page->next = std::move(found->next);
    return page;
  };
  struct Seen {
    domain::AgeClaims claims;
    std::size_t pages = 0;
    std::optional<domain::Failure> unread;  // the last one
  };
  auto seen = std::make_shared<Seen>();
  crawl.on_unread = [seen](const domain::Failure& failure) { seen->unread = failure; };
  crawler_.Start(
      std::move(crawl), std::move(read),
      [seen](const SitePage& page) {
        ++seen->pages;
        if (const auto* found = dynamic_cast<const ClaimsPage*>(&page)) {
          std::copy(found->claims.begin(), found->claims.end(), std::back_inserter(seen->claims));
        }
        return seen->claims.size() < domain::kAgeClaimsMax ? SiteCrawler::Go::kOn
                                                           : SiteCrawler::Go::kEnough;
      },
      [seen, done = std::move(done)](std::optional<domain::Failure> failure) {
        // What was read before this process ran out of something counts.
        if (!seen->claims.empty()) return done(std::move(seen->claims));
        if (failure) return done(std::move(*failure));
        // No page at all could be read: that is a failure, and not "nothing found".
        if (seen->unread && seen->pages == 0) {
          return done(domain::Failure{std::string(kLookupSiteUnread), seen->unread->message, false,
                                      std::nullopt});
        }
        done(Nothing{});
      });
}

}  // namespace vedette::worker
