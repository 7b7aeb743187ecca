#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// The cookies of a page, which may be what somebody is logged in by: secrets of the customer. Pure.
namespace vedette::net {

struct PageCookie {
  std::string name;
  std::string value;
  std::string domain;  // with a dot before it where hosts below it get the cookie, too
  std::string path = "/";
  double expires = -1;  // seconds since 1970; less than 0: with its session
  bool secure = false;
  bool http_only = false;
  std::string same_site{};  // Strict, Lax, None, or empty
  auto operator<=>(const PageCookie&) const = default;
};

// What is kept of one page.
inline constexpr std::size_t kPageCookiesMax = 100;
inline constexpr std::size_t kPageCookiesBytesMax = 32768;

// The answer of Storage.getCookies, those of `host` and of the hosts around it first, as far as the
// bounds go.
std::vector<PageCookie> ReadCookies(const base::Json& answer, std::string_view host);
// The member `cookies` of Storage.setCookies.
base::Json CookieParams(const std::vector<PageCookie>& cookies);

// The value of the header Cookie that a browser with these would send for `url`; empty: none.
std::string CookieHeader(const std::vector<PageCookie>& cookies, std::string_view url);

// A text of ours, and what it says; empty where it is none.
std::string CookiesText(const std::vector<PageCookie>& cookies);
std::optional<std::vector<PageCookie>> ParseCookies(const std::string& text);

// Whether both say the same to a site, whatever their order; one that merely ends up to an hour
// later is the same.
bool SameCookies(std::vector<PageCookie> a, std::vector<PageCookie> b);

}  // namespace vedette::net
