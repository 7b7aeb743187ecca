#pragma once

#include <string>
#include <vector>

#include "domain/email/address.h"
#include "domain/people/person_found.h"
#include "pages/cards_on_page.h"
#include "pages/structured_data.h"

// What a page of a domain's own site says of who is behind an address there. Pure.
namespace vedette::worker {

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
                                 const std::vector<pages::PagePerson>& persons,
                                 const std::vector<pages::PageCard>& cards);

// Adds what a further page says. The first name stays; each candidate is there once.
void AddPageOfPerson(const domain::PersonFound& page, domain::PersonFound* person);

}  // namespace vedette::worker
