#include "worker/providers/website_provider.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "domain/email/address.h"
#include "domain/email/free_mailbox.h"
#include "domain/email/suppression.h"
#include "domain/people/mailbox.h"
#include "pages/page_forms.h"
#include "worker/providers/reverse_reading.h"
#include "worker/providers/site_reading.h"

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

WebsiteProvider::WebsiteProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                                 const config::EmailConfig& config, OriginOf origin_of)
    : config_(config), origin_of_(std::move(origin_of)), crawler_(clock, fetcher) {}

void WebsiteProvider::Start(LookupRequest request, Done done) {
  if (request.lookup == Lookup::kReverseEmail) return Reverse(request, std::move(done));
  Find(request, std::move(done));
}

CrawlRequest WebsiteProvider::CrawlOf(const LookupRequest& request,
                                      const std::string& domain) const {
  CrawlRequest walk;
  walk.org_id = request.org_id;
  walk.visits = {{{origin_of_(domain), origin_of_("www." + domain)}, "/", config_.pages_max}};
  walk.timeout = std::min(config_.site_timeout_ms, request.timeout);
  walk.page_bytes_max = static_cast<std::size_t>(config_.page_bytes_max);
  walk.may_call = request.may_call;
  return walk;
}

void WebsiteProvider::Find(const LookupRequest& request, Done done) {
  const std::string domain = domain::CompanyDomain(*request.person);
  if (domain.empty() || domain::IsFreeMailboxDomain(domain)) return done(Nothing{});
  auto read = [person = request.person, mode = request.mode, origin = origin_of_(domain)](
                  const pages::FetchedPage& fetched,
                  pages::ReadingTime& time) -> std::shared_ptr<const SitePage> {
    const pages::PageForms forms(fetched);
    if (forms.IsBinary()) return nullptr;
    auto page = std::make_shared<CandidatesPage>();
    page->url = fetched.url;
    const auto found = pages::FindAddressesOnPage(forms.text(), time.stop());
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
                  const pages::FetchedPage& fetched,
                  pages::ReadingTime& time) -> std::shared_ptr<const SitePage> {
    const pages::PageForms forms(fetched);
    if (forms.IsBinary()) return nullptr;
    auto page = std::make_shared<PersonPage>();
    page->url = fetched.url;
    const auto found = pages::FindAddressesOnPage(forms.text(), time.stop());
    const auto cards = pages::CardsOnPage(forms.text(), time.stop());
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

}  // namespace vedette::worker
