#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/person.h"
#include "pages/addresses_on_page.h"

// What a page of a company's site says of one person, and which of its pages to read next. Pure.
namespace vedette::worker {

// The addresses that are the person's: a Person node with a compatible name has it, or its local
// part is a pattern of the name, or it is the only one in the smallest block that has the name.
// Those of roles are nobody's. In mode PROFESSIONAL those at the company's domain and below it, in
// mode PERSONAL the others. `url`: of the page.
domain::Candidates CandidatesOnPage(const domain::Person& person, domain::FindMode mode,
                                    const std::string& url, const pages::AddressesOnPage& page);

// The links to pages of `origin` ("https://acme.com"), or of hosts below its own, that may name
// people: whose path or text has a word such as contact, team, imprint, in one of twelve languages.
// Absolute, each once, those that say "team" or "people" before the others.
std::vector<std::string> PeoplePages(const std::string& url, const std::string& origin,
                                     const std::vector<pages::PageLink>& links);

}  // namespace vedette::worker
