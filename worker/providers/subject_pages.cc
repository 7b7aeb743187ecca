#include "worker/providers/subject_pages.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "domain/age/date_mention.h"
#include "domain/email/address.h"
#include "domain/email/free_mailbox.h"
#include "domain/email/suppression.h"
#include "pages/addresses_on_page.h"
#include "pages/page_forms.h"
#include "pages/url_reference.h"
#include "worker/providers/site_reading.h"

namespace vedette::worker {
namespace {

// They show strangers a login instead of the page, and forbid readers.
constexpr auto kBehindLogin =
    std::to_array<std::string_view>({"facebook.com", "instagram.com", "linkedin.com", "xing.com"});

bool IsBehindLogin(const std::string& url) {
  const auto host = domain::FindDomain(url);
  return host && std::any_of(kBehindLogin.begin(), kBehindLogin.end(), [&](std::string_view site) {
           const bool is_below = host->size() > site.size() && host->ends_with(site) &&
                                 (*host)[host->size() - site.size() - 1] == '.';
           return *host == site || is_below;
         });
}

std::optional<std::chrono::year_month_day> DayOf(const std::string& text) {
  const auto date = domain::ReadDateValue(text);
  if (!date || !date->year || !date->month || !date->day) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(*date->year),
                                        std::chrono::month(static_cast<unsigned>(*date->month)),
                                        std::chrono::day(static_cast<unsigned>(*date->day))};
  return day.ok() ? std::optional(day) : std::nullopt;
}

}  // namespace

std::optional<SiteVisit> VisitOf(const std::string& url) {
  SiteVisit visit;
  visit.origins = {pages::OriginOfUrl(url)};
  const bool is_web = url.starts_with("https://") || url.starts_with("http://");
  if (!is_web || visit.origins.front().empty() || IsBehindLogin(url)) return std::nullopt;
  const std::string rest = url.substr(visit.origins.front().size());
  visit.path = rest.substr(0, rest.find('#'));
  if (!visit.path.starts_with('/')) visit.path.insert(0, 1, '/');
  return visit;
}

std::vector<SiteVisit> VisitsOf(const LookupRequest& request, int pages_max,
                                const OriginOf& origin_of) {
  std::vector<SiteVisit> visits;
  for (const std::string& url : request.urls) {
    if (auto visit = VisitOf(url)) visits.push_back(std::move(*visit));
  }
  const std::string domain =
      request.person ? domain::CompanyDomain(*request.person) : std::string();
  if (!domain.empty() && !domain::IsFreeMailboxDomain(domain)) {
    visits.push_back({{origin_of(domain), origin_of("www." + domain)}, "/", pages_max});
  }
  return visits;
}

std::optional<SubjectPage> ReadSubjectPage(const pages::FetchedPage& fetched,
                                           pages::ReadingTime& time) {
  pages::PageForms forms(fetched);
  if (forms.IsBinary()) return std::nullopt;
  auto text = forms.VisibleText();
  if (!text) return std::nullopt;
  SubjectPage page;
  page.url = fetched.url;
  page.text = std::move(*text);
  const pages::HtmlDocument* html = forms.Html();
  if (forms.IsJson() || html == nullptr) return page;
  page.persons = pages::PersonsOnPage(*html, time.stop());
  page.published = DayOf(pages::PublishedOn(*html, time.stop()));
  const auto links = pages::LinksOnPage(*html, time.stop());
  page.next = PeoplePages(page.url, pages::OriginOfUrl(page.url), links);
  for (const pages::PageLink& link : links) page.links.push_back(link.url);
  return page;
}

}  // namespace vedette::worker
