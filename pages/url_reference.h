#pragma once

#include <string>
#include <string_view>

namespace vedette::pages {

// A reference (a Location header) resolved against an absolute http or https URL, by RFC 3986, 5.2:
// absolute, "//host/x", "/x", "x", "../x", "?q". The fragment is dropped. Empty where the reference
// has another scheme than http or https. Validates nothing else. Pure.
std::string ResolveReference(std::string_view base, std::string_view reference);

// A text as one segment of a path, or one value of a query: every byte but letters, digits and
// "-._~" percent-encoded. Pure.
std::string EncodeComponent(std::string_view text);

// Scheme, host and port of an absolute http or https URL: "https://acme.com:8443". Pure.
std::string OriginOfUrl(std::string_view url);

// Whether both have the same scheme, host and port.
bool SameOrigin(std::string_view a, std::string_view b);

}  // namespace vedette::pages
