#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/address.h"

// What an address alone tells of who is behind it. Pure.
namespace vedette::domain {

// Equal for the spellings of one mailbox: NFC and lower case in every script, without what follows
// a plus sign, and at Google's own domains without dots, where gmail.com and googlemail.com are
// one.
std::string MailboxKey(const Address& address);

// The name that a local part may be made of: "Ada Lovelace" of "ada.lovelace+x@example.com". Empty
// where it has not two to four parts of letters, or is a role's. `address` may be any text.
std::string NameOfLocalPart(std::string_view address);

enum class MailboxClass : std::uint8_t {
  kRole,        // nobody's
  kDisposable,  // nobody's for long
  kFree,        // a person's, and its domain tells of no company
  kCompany,     // a person's at the domain of a company
};
// A role is a role at every domain.
MailboxClass ClassOf(const Address& address);

// Whether a person may be behind the address: it is neither a role's nor thrown away.
bool IsPersons(const Address& address);
// The domain of the company behind the address; empty at providers of mailboxes.
std::string CompanyDomainOf(const Address& address);

// Whether the address is at the company's domain, or one of the two domains is below the other
// (mail.acme.example), in whatever spelling. Nobody's where the company's domain is empty.
bool IsOfCompany(const Address& address, std::string_view company_domain);

// Whether the local part is that of a role ("info", "sales"): its mailbox is nobody's. Compared
// without case, plus tag and digits at its end. Pure.
bool IsRoleName(std::string_view local);

// Whether the domain is that of a provider of free mailboxes (gmail.com), whose addresses are
// people's own. `domain` is in lower case, in A-labels or not.
bool IsFreeMailboxDomain(std::string_view domain);

// Adds domains of the operator's to that list, for the life of the process. Called while the
// process has one thread, before anything is asked: afterwards the list is read without a lock. The
// domains are in lower case and in A-labels.
void AddFreeMailboxDomains(const std::vector<std::string>& domains);

// Whether the domain, or one that it is a part of, belongs to a service of throw-away addresses.
// `domain` is as that of IsFreeMailboxDomain. The list has some 800 domains of the best known
// services, and what the operator's file adds.
bool IsDisposableDomain(std::string_view domain);

// Adds to that list, as AddFreeMailboxDomains does to its own (domain/email/mailbox.h).
void AddDisposableDomains(const std::vector<std::string>& domains);

}  // namespace vedette::domain
