#include "net/browser/page_cookies.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "net/browser/devtools_messages.h"
#include "net/url.h"

namespace vedette::net {
namespace {

using base::Json;

constexpr double kSameExpirySeconds = 3600;

bool Flag(const Json& cookie, const char* name) {
  const auto it = cookie.find(name);
  return it != cookie.end() && it->is_boolean() && it->get<bool>();
}

PageCookie ReadCookie(const Json& from) {
  PageCookie cookie;
  cookie.name = TextMember(from, "name");
  cookie.value = TextMember(from, "value");
  cookie.domain = TextMember(from, "domain");
  cookie.path = TextMember(from, "path");
  const auto expires = from.find("expires");
  if (expires != from.end() && expires->is_number()) cookie.expires = expires->get<double>();
  cookie.secure = Flag(from, "secure");
  cookie.http_only = Flag(from, "httpOnly");
  cookie.same_site = TextMember(from, "sameSite");
  return cookie;
}

std::size_t BytesOf(const PageCookie& cookie) {
  return cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
}

// Whether requests for `host`, or for hosts below or above it, carry the cookie.
bool IsAround(const PageCookie& cookie, std::string_view host) {
  std::string_view domain = cookie.domain;
  if (domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.empty() || host.empty()) return false;
  const auto below = [](std::string_view inner, std::string_view outer) {
    return inner.size() > outer.size() && inner.ends_with(outer) &&
           inner[inner.size() - outer.size() - 1] == '.';
  };
  return domain == host || below(host, domain) || below(domain, host);
}

Json CookieJson(const PageCookie& cookie) {
  Json out{{"name", cookie.name}, {"value", cookie.value},   {"domain", cookie.domain},
           {"path", cookie.path}, {"secure", cookie.secure}, {"httpOnly", cookie.http_only}};
  if (cookie.expires >= 0) out["expires"] = cookie.expires;
  if (!cookie.same_site.empty()) out["sameSite"] = cookie.same_site;
  return out;
}

auto KeyOf(const PageCookie& cookie) {
  return std::tie(cookie.domain, cookie.path, cookie.name);
}

bool IsSame(const PageCookie& a, const PageCookie& b) {
  PageCookie moved = b;
  moved.expires = a.expires;
  return a == moved && (a.expires < 0) == (b.expires < 0) &&
         std::abs(a.expires - b.expires) < kSameExpirySeconds;
}

}  // namespace

std::vector<PageCookie> ReadCookies(const Json& answer, std::string_view host) {
  std::vector<PageCookie> cookies;
  const auto list = answer.find("cookies");
  if (list == answer.end() || !list->is_array()) return cookies;
  for (const Json& one : *list) {
    if (one.is_object()) cookies.push_back(ReadCookie(one));
  }
  std::stable_partition(cookies.begin(), cookies.end(),
                        [&](const PageCookie& cookie) { return IsAround(cookie, host); });
  std::size_t bytes = 0;
  std::erase_if(cookies, [&](const PageCookie& cookie) {
    const bool fits = bytes + BytesOf(cookie) <= kPageCookiesBytesMax;
    if (fits) bytes += BytesOf(cookie);
    return !fits;
  });
  if (cookies.size() > kPageCookiesMax) cookies.resize(kPageCookiesMax);
  return cookies;
}

// A cookie of one host is set by an address of this host: a domain would give it to hosts below.
Json CookieParams(const std::vector<PageCookie>& cookies) {
  Json params = Json::array();
  for (const PageCookie& cookie : cookies) {
    Json one = CookieJson(cookie);
    if (!cookie.domain.starts_with('.')) {
      one.erase("domain");
      one["url"] = (cookie.secure ? "https://" : "http://") + cookie.domain + cookie.path;
    }
    params.push_back(std::move(one));
  }
  return params;
}

std::string CookieHeader(const std::vector<PageCookie>& cookies, std::string_view url) {
  UrlParts parts;
  std::string error;
  if (!SplitUrl(url, &parts, &error)) return {};
  const std::string host = base::AsciiLower(parts.host);
  std::string path = std::string(parts.rest.substr(0, parts.rest.find_first_of("?#")));
  if (path.empty()) path = "/";
  std::string header;
  for (const PageCookie& cookie : cookies) {
    const bool with_hosts_below = cookie.domain.starts_with('.');
    const bool is_host = cookie.domain == host || (with_hosts_below && IsAround(cookie, host) &&
                                                   host.size() + 1 >= cookie.domain.size());
    const bool is_path = path.starts_with(cookie.path) &&
                         (cookie.path.ends_with('/') || path.size() == cookie.path.size() ||
                          path[cookie.path.size()] == '/');
    if (!is_host || !is_path || (cookie.secure && !url.starts_with("https:"))) continue;
    header += (header.empty() ? "" : "; ") + cookie.name + "=" + cookie.value;
  }
  return header;
}

std::string CookiesText(const std::vector<PageCookie>& cookies) {
  Json list = Json::array();
  for (const PageCookie& cookie : cookies) list.push_back(CookieJson(cookie));
  return base::DumpJson(Json{{"cookies", std::move(list)}});
}

std::optional<std::vector<PageCookie>> ParseCookies(const std::string& text) {
  Json answer;
  if (base::ParseJson(text, &answer) || !answer.is_object()) return std::nullopt;
  return ReadCookies(answer, "");
}

bool SameCookies(std::vector<PageCookie> a, std::vector<PageCookie> b) {
  const auto before = [](const PageCookie& x, const PageCookie& y) { return KeyOf(x) < KeyOf(y); };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), IsSame);
}

}  // namespace vedette::net
