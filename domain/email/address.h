#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The syntax of addresses (RFC 5321, RFC 6531) and of the domains behind them. Pure. All text is
// valid UTF-8. Names outside ASCII are taken as they are written, but for Address::Key.
namespace vedette::domain {

// In bytes, by RFC 5321 4.5.3.1 and RFC 1035.
inline constexpr std::size_t kLocalPartBytesMax = 64;
inline constexpr std::size_t kLabelBytesMax = 63;
inline constexpr std::size_t kDomainBytesMax = 253;
inline constexpr std::size_t kAddressBytesMax = 254;

struct Address {
  std::string local;   // without the quotes of a quoted local part
  std::string domain;  // A to Z in lower case

  // The address again; the local part is quoted where it has to be.
  std::string Text() const;
  // Equal for two texts of one mailbox, as far as we may say so without asking its server: the
  // local part in NFC and lower case, the domain in A-labels.
  std::string Key() const;
};

// Empty where the text is no address that we would ask a server about: control characters, blanks,
// angle brackets or a comment outside quotes, an address literal ("x@[1.2.3.4]"), a domain of one
// label, a part over its limit. The text is not trimmed.
std::optional<Address> ParseAddress(std::string_view text);

// A domain of at least two labels, A to Z in lower case, a final dot dropped. Empty for IP
// addresses and for everything that is no name.
std::optional<std::string> ParseDomain(std::string_view text);

// The domain that a person wrote: "Acme.com", "www.acme.com", "https://www.acme.com/about". Without
// "www.".
std::optional<std::string> FindDomain(std::string_view text);

// Internationalised domain names (IDNA 2008, non-transitional), by libidn2. Pure.

// The domain in A-labels and lower case, as the DNS and mail servers know it: "müller.example" is
// "xn--mller-kva.example". A domain in ASCII comes back as it is, in lower case. Empty for a name
// that IDNA does not allow, or whose A-labels are too long.
std::optional<std::string> AsciiDomain(std::string_view domain);

// The domain in A-labels; as it is where it has none.
std::string InALabels(std::string_view domain);

bool IsAsciiText(std::string_view text);

// Whether the domain is `parent`, or below it: mail.acme.example is below acme.example. Both are in
// one spelling.
bool IsBelow(std::string_view domain, std::string_view parent);

// What an address alone tells of who is behind it. Pure.

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

// Adds to that list, as AddFreeMailboxDomains does to its own.
void AddDisposableDomains(const std::vector<std::string>& domains);

}  // namespace vedette::domain
