#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace vedette::html {

// A reference (a Location header) resolved against an absolute http or https URL, by RFC 3986, 5.2:
// absolute, "//host/x", "/x", "x", "../x", "?q". The fragment is dropped, and a space of the path
// or the query is encoded, as browsers do. Empty where the reference has another scheme than http
// or https. Validates nothing else. Pure.
std::string ResolveReference(std::string_view base, std::string_view reference);

// RFC 3986, 5.2.4, for a path that begins with '/'. Pure.
std::string RemoveDotSegments(std::string_view path);

// A text as one segment of a path, or one value of a query: every byte but letters, digits and
// "-._~" percent-encoded. Pure.
std::string EncodeComponent(std::string_view text);

// Scheme, host and port of an absolute http or https URL: "https://acme.com:8443". Pure.
std::string OriginOfUrl(std::string_view url);

// Whether both have the same scheme, host and port.
bool SameOrigin(std::string_view a, std::string_view b);

// Whether a request for `url` may carry what is meant for `own` alone, a page's credentials: the
// same host and port, as encrypted as `own` is. A step from http on its usual port to https on its
// usual port, which is how sites redirect to themselves, loses nothing. False where one is no URL.
// Pure.
bool IsOwnSite(std::string_view own, std::string_view url);

// The URL of a row's page: `url`, else `website`, else `domain` (names in any case), each from the
// subject, then from the context; blank values count as none. What has no scheme gets https://; a
// fragment is dropped. Not checked yet. Pure.
std::optional<std::string> PageAddress(const base::Json& subject, const base::Json& context);
// The fragment of that URL, with its '#'; may be empty. Servers are not told it, but a page's
// scripts may choose by it what they show. Pure.
std::string PageFragment(const base::Json& subject, const base::Json& context);

}  // namespace vedette::html
