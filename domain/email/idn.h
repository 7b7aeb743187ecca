#pragma once

#include <optional>
#include <string>
#include <string_view>

// Internationalised domain names (IDNA 2008, non-transitional), by libidn2. Pure.
namespace vedette::domain {

// The domain in A-labels and lower case, as the DNS and mail servers know it: "müller.example" is
// "xn--mller-kva.example". A domain in ASCII comes back as it is, in lower case. Empty for a name
// that IDNA does not allow, or whose A-labels are too long.
std::optional<std::string> AsciiDomain(std::string_view domain);

bool IsAsciiText(std::string_view text);

}  // namespace vedette::domain
