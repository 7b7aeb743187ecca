#include "worker/providers/pages_provider.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "domain/age/page_claims.h"

namespace vedette::worker {
namespace {

struct ClaimsPage final : SitePage {
  domain::AgeClaims claims;
};

}  // namespace

domain::AgeClaims ClaimsOfSubjectPage(const domain::AgeSubject& subject, const SubjectPage& page) {
  std::vector<domain::StructuredPerson> persons;
  persons.reserve(page.persons.size());
  for (const pages::PagePerson& person : page.persons) {
    persons.push_back({person.name, person.birth, person.death});
  }
  return domain::ClaimsOfPage(subject, page.Facts(), persons, page.published);
}

PagesProvider::PagesProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                             const config::EmailConfig& config, OriginOf origin_of)
    : config_(config), origin_of_(std::move(origin_of)), crawler_(clock, fetcher) {}

void PagesProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  CrawlRequest walk;
  walk.visits = VisitsOf(request, config_.pages_max, origin_of_);
  if (request.lookup != Lookup::kVerifyAge || walk.visits.empty()) return done(Nothing{});
  walk.org_id = request.org_id;
  walk.timeout = std::min(config_.site_timeout_ms, request.timeout);
  walk.page_bytes_max = static_cast<std::size_t>(config_.page_bytes_max);
  walk.may_call = request.may_call;
  auto read = [subject = domain::AgeSubject{*request.person, request.urls}](
                  const pages::FetchedPage& fetched,
                  pages::ReadingTime& time) -> std::shared_ptr<const SitePage> {
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
  walk.on_unread = [seen](const domain::Failure& failure) { seen->unread = failure; };
  crawler_.Start(
      std::move(walk), std::move(read),
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
