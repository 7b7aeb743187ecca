#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "config/lookup_config.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_walk.h"

namespace vedette::worker {

// Reads a company's own site: the first page, then the pages that may name people (site_reading.h).
//
//   find_email      the company's site, until a page gives an address of the person
//   reverse_email   the site of the address's domain, until a page names whose address it is
//                   (reverse_reading.h); the sites of mailbox providers tell of nobody
//
// At most [email] pages_max pages of DOMAIN, or of www.DOMAIN where DOMAIN does not answer, in
// site_timeout_ms; SiteCrawler says how. That a site cannot be read is no failure of this provider:
// it has found nothing. Its failures: overloaded, shutdown.
class WebsiteProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "website";

  // Everything handed in must outlive this object, but for `config`.
  WebsiteProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                  const config::EmailConfig& config, OriginOf origin_of = OverHttps());

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  using Done = std::function<void(LookupAnswer)>;

  // One visit of the domain's site.
  CrawlRequest CrawlOf(const LookupRequest& request, const std::string& domain) const;
  void Find(const LookupRequest& request, Done done);
  void Reverse(const LookupRequest& request, Done done);

  const config::EmailConfig config_;
  const OriginOf origin_of_;
  SiteCrawler crawler_;
};

}  // namespace vedette::worker
