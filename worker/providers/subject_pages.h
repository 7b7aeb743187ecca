#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "domain/age/identity.h"
#include "pages/fetch.h"
#include "pages/structured_data.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_walk.h"

// The pages that may tell of a person's age, and what they hold. Reading one belongs to a thread of
// the pool; everything is pure.
namespace vedette::worker {

// The pages that the client names as the person's, one page each, then `pages_max` pages of the
// company's own site. Pages behind a login (LinkedIn's too) and sites of mailbox providers are left
// out.
std::vector<SiteVisit> VisitsOf(const LookupRequest& request, int pages_max,
                                const OriginOf& origin_of);

// One page, and no other of its site. Empty for what is no web address, and for pages behind a
// login.
std::optional<SiteVisit> VisitOf(const std::string& url);

// What a page holds, as the rules of ages want it (domain/age/page_claims.h).
struct SubjectPage {
  std::string url;
  std::string text;  // all that a reader sees, with folded white space
  std::vector<std::string> links;
  std::vector<pages::PagePerson> persons;
  std::optional<std::chrono::year_month_day> published;  // ages on the page are of that day
  std::vector<std::string> next;  // pages of the same host and those below it that may name people

  domain::SourceFacts Facts() const { return {url, "", text, links}; }
};

// Empty for pages that are no text.
std::optional<SubjectPage> ReadSubjectPage(const pages::FetchedPage& page,
                                           pages::ReadingTime& time);

}  // namespace vedette::worker
