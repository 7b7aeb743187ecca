#include "pages/own_site.h"

#include <string>

#include "base/text.h"
#include "net/url.h"

namespace vedette::pages {

bool IsOwnSite(std::string_view own, std::string_view url) {
  net::UrlParts from;
  net::UrlParts to;
  std::string error;
  if (!net::SplitUrl(own, &from, &error) || !net::SplitUrl(url, &to, &error)) return false;
  // Another spelling of the same name or address counts as another host.
  if (!base::EqualsIgnoringAsciiCase(from.host, to.host)) return false;
  if (from.scheme == to.scheme) return from.port == to.port;
  constexpr int kHttpPort = 80;
  constexpr int kHttpsPort = 443;
  return from.scheme == "http" && from.port == kHttpPort && to.scheme == "https" &&
         to.port == kHttpsPort;
}

}  // namespace vedette::pages
