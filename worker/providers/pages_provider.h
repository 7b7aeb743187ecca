#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "config/lookup_config.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_walk.h"
#include "worker/providers/subject_pages.h"

namespace vedette::worker {

// Reads what pages state about a person's birth, age and death: those that the client names, then
// the company's own (subject_pages.h), by the rules of domain/age/page_claims.h. At most [email]
// pages_max pages of a site, and site_timeout_ms for all of them together. Serves verify_age alone.
// That a page cannot be read is no failure of this provider. Its failures: overloaded, shutdown.
class PagesProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "pages";

  // Everything handed in must outlive this object, but for `config`.
  PagesProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                const config::EmailConfig& config, OriginOf origin_of = OverHttps());

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  const config::EmailConfig config_;
  const OriginOf origin_of_;
  SiteCrawler crawler_;
};

// What a page that was read states about the subject. Pure; on a thread of the pool, as it goes
// through all of the page's words.
domain::AgeClaims ClaimsOfSubjectPage(const domain::AgeSubject& subject, const SubjectPage& page);

}  // namespace vedette::worker
