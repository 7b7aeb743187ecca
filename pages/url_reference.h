#pragma once

#include <string>
#include <string_view>

namespace vedette::pages {

// A reference (a Location header) resolved against an absolute http or https URL, by RFC 3986, 5.2:
// absolute, "//host/x", "/x", "x", "../x", "?q". The fragment is dropped. Empty where the reference
// has another scheme than http or https. Judges nothing else. Pure.
std::string ResolveReference(std::string_view base, std::string_view reference);

// Whether both have the same scheme, host and port.
bool SameOrigin(std::string_view a, std::string_view b);

}  // namespace vedette::pages
