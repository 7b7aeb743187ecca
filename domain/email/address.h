#pragma once

#include <cstddef>
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

}  // namespace vedette::domain
