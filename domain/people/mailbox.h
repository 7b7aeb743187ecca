#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/email/address.h"

// What an address alone tells of who is behind it. Pure.
namespace vedette::domain {

// Equal for the spellings of one mailbox: lower case, without what follows a plus sign, and at
// Google's own domains without dots, where gmail.com and googlemail.com are one.
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

}  // namespace vedette::domain
