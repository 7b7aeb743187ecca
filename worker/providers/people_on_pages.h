#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/address.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/lead.h"
#include "domain/people/age_claims.h"
#include "domain/people/person_found.h"
#include "html/addresses_on_page.h"
#include "html/fetch.h"
#include "html/structured_data.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_crawler.h"

// What a page of a company's site says of one person, and which of its pages to read next. Pure.
namespace vedette::worker {

// The addresses that are the person's: a Person node with a compatible name has it, or its local
// part is a pattern of the name, or it is the only one in the smallest block that has the name.
// Those of roles are nobody's. In mode PROFESSIONAL those at the company's domain and below it, in
// mode PERSONAL the others. `url`: of the page.
domain::Candidates CandidatesOnPage(const domain::Person& person, domain::FindMode mode,
                                    const std::string& url, const html::AddressesOnPage& page);

// The links to pages of `origin` ("https://acme.com"), or of hosts below its own, that may name
// people: whose path or text has a word such as contact, team, imprint, in one of twelve languages.
// Absolute, each once, those that say "team" or "people" before the others.
std::vector<std::string> PeoplePages(const std::string& url, const std::string& origin,
                                     const std::vector<html::PageLink>& links);

// What a page of a domain's own site says of who is behind an address there. Pure.

// How sure a name is.
inline constexpr int kNodeConfidence = 8;    // a Person of JSON-LD or microdata has the address
inline constexpr int kHCardConfidence = 7;   // an hCard has it
inline constexpr int kBlockConfidence = 5;   // the only name beside it, which its local part tells
inline constexpr int kBesideConfidence = 3;  // a name beside it: a candidate

// Spellings of one mailbox (MailboxKey) count as the address. A name that is none (StatedName) does
// not count. The structured persons that have the address are read first: one name is the answer,
// several are candidates. Otherwise the smallest card that has the address and a name is read: a
// single name beside a single address is the answer where the local part is made of it and it is
// not the domain's own name, and a candidate where not; several names are candidates. Of a card
// with several addresses nothing is known.
domain::PersonFound PersonBehind(const domain::Address& address, const std::string& url,
                                 const std::vector<html::PagePerson>& persons,
                                 const std::vector<html::PageCard>& cards);

// Adds what a further page says. The first name stays; each candidate is there once.
void AddPageOfPerson(const domain::PersonFound& page, domain::PersonFound* person);

// The pages that may tell of a person's age, and what they hold. Reading one belongs to a thread of
// the pool; everything is pure.

// The pages that the client names as the person's, one page each, then `pages_max` pages of the
// company's own site. Pages behind a login (LinkedIn's too) and sites of mailbox providers are left
// out.
std::vector<SiteVisit> VisitsOf(const LookupRequest& request, int pages_max,
                                const OriginOf& origin_of);

// One page, and no other of its site. Empty for what is no web address, and for pages behind a
// login.
std::optional<SiteVisit> VisitOf(const std::string& url);

// What a page holds, as the rules of ages want it (domain/people/age_claims.h).
struct SubjectPage {
  std::string url;
  std::string text;  // all that a reader sees, with folded white space
  std::vector<std::string> links;
  std::vector<html::PagePerson> persons;
  std::optional<std::chrono::year_month_day> published;  // ages on the page are of that day
  std::vector<std::string> next;  // pages of the same host and those below it that may name people

  domain::SourceFacts Facts() const { return {url, "", text, links}; }
};

// Empty for pages that are no text.
std::optional<SubjectPage> ReadSubjectPage(const html::FetchedPage& page, html::ReadingTime& time);

}  // namespace vedette::worker
