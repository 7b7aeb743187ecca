#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "html/fetch.h"
#include "worker/providers/people_on_pages.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_crawler.h"

namespace vedette::worker {

// Reads a company's own site: the first page, then the pages that may name people.
//
//   find_email      the company's site, until a page gives an address of the person
//   reverse_email   the site of the address's domain, until a page names whose address it is;
//                   the sites of mailbox providers tell of nobody
//
// At most [email] pages_max pages of DOMAIN, or of www.DOMAIN where DOMAIN does not answer, in
// site_timeout_ms; SiteCrawler says how. That a site cannot be read is no failure of this provider:
// it has found nothing. Its failures: overloaded, shutdown.
class WebsiteProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "website";

  // Everything handed in must outlive this object.
  WebsiteProvider(const base::Clock& clock, html::Fetcher& fetcher,
                  const config::EmailConfig& config, OriginOf origin_of = OverHttps());

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  using Done = std::function<void(LookupAnswer)>;

  // One visit of the domain's site.
  CrawlRequest CrawlOf(const LookupRequest& request, const std::string& domain) const;
  void Find(const LookupRequest& request, Done done);
  void Reverse(const LookupRequest& request, Done done);

  const config::EmailConfig& config_;
  const OriginOf origin_of_;
  SiteCrawler crawler_;
};

// Reads what pages state about a person's birth, age and death: those that the client names, then
// the company's own, by the rules of domain/people/age_claims.h. At most [email]
// pages_max pages of a site, and site_timeout_ms for all of them together. Serves verify_age alone.
// That a page cannot be read is no failure of this provider. Its failures: overloaded, shutdown.
class PagesProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "pages";

  // Everything handed in must outlive this object.
  PagesProvider(const base::Clock& clock, html::Fetcher& fetcher, const config::EmailConfig& config,
                OriginOf origin_of = OverHttps());

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  const config::EmailConfig& config_;
  const OriginOf origin_of_;
  SiteCrawler crawler_;
};

// What a page that was read states about the subject. Pure; on a thread of the pool, as it goes
// through all of the page's words.
domain::AgeClaims ClaimsOfSubjectPage(const domain::AgeSubject& subject, const SubjectPage& page);

}  // namespace vedette::worker
