#include "net/url.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "domain/text/limits.h"
#include "net/public_address.h"

namespace vedette::net {
namespace {

bool SplitPort(std::string_view text, UrlParts* parts) {
  if (text.empty()) {
    return true;  // "host:" means the scheme's port
  }
  int port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || port > 65535) {
      return false;
    }
    port = port * 10 + (c - '0');
  }
  parts->port = port;
  return port >= 1 && port <= 65535;
}

bool SplitAuthority(std::string_view authority, UrlParts* parts, std::string* error) {
  if (authority.find('@') != std::string_view::npos) {
    parts->has_userinfo = true;
    authority.remove_prefix(authority.rfind('@') + 1);
  }
  std::size_t host_end = authority.find(':');
  if (authority.starts_with('[')) {
    host_end = authority.find(']');
    if (host_end == std::string_view::npos) {
      *error = "the URL's IPv6 address lacks its closing bracket";
      return false;
    }
    ++host_end;
  }
  host_end = std::min(host_end, authority.size());
  parts->host = authority.substr(0, host_end);
  const std::string_view port = authority.substr(host_end);
  if (!port.empty() && (port.front() != ':' || !SplitPort(port.substr(1), parts))) {
    *error = "the URL's port is not a number from 1 to 65535";
    return false;
  }
  if (parts->host.empty()) {
    *error = "the URL has no host";
    return false;
  }
  return true;
}

}  // namespace

bool SplitUrl(std::string_view text, UrlParts* parts, std::string* error) {
  for (const char c : text) {
    if (c == ' ' || base::IsAsciiControl(c)) {
      *error = "the URL contains a space or a control character";
      return false;
    }
    if (c == '\\') {  // some readers take it for a slash, some for a part of the host
      *error = "the URL contains a backslash";
      return false;
    }
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0 ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
        return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '+' || c == '-' || c == '.';
      })) {
    *error = "the URL must start with http:// or https://";
    return false;
  }
  *parts = UrlParts{};
  for (const char c : text.substr(0, colon)) {
    parts->scheme.push_back(base::AsciiLower(c));
  }
  parts->port = parts->scheme == "http" ? 80 : (parts->scheme == "https" ? 443 : 0);
  std::string_view rest = text.substr(colon + 3);
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    parts->has_fragment = true;
    rest = rest.substr(0, hash);
  }
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  parts->rest = rest.substr(end);
  return SplitAuthority(rest.substr(0, end), parts, error);
}

std::string OriginOf(std::string_view url) {
  UrlParts parts;
  std::string error;
  if (!SplitUrl(url, &parts, &error)) return "";
  return parts.scheme + "://" + std::string(parts.host);
}

std::string EncodeTarget(std::string_view rest) {
  std::string out;
  out.reserve(rest.size() + 1);
  if (!rest.starts_with('/')) {
    out.push_back('/');
  }
  for (const char c : rest) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back("0123456789ABCDEF"[byte >> 4]);
      out.push_back("0123456789ABCDEF"[byte & 15]);
    }
  }
  return out;
}

// The rules of a tenant's URL.

namespace {

constexpr std::size_t kHostCharsMax = 253;
constexpr std::size_t kLabelCharsMax = 63;

TenantUrlResult Refuse(std::string message) {
  return {std::nullopt, UrlError{std::move(message)}};
}

std::vector<std::string_view> Labels(std::string_view host) {
  std::vector<std::string_view> labels;
  for (;;) {
    const std::size_t dot = host.find('.');
    labels.push_back(host.substr(0, dot));
    if (dot == std::string_view::npos) {
      return labels;
    }
    host.remove_prefix(dot + 1);
  }
}

// A part of an address as inet_aton reads it: decimal, 0x hexadecimal, 0 octal. `digits` is lower
// case.
std::optional<std::uint64_t> ParseAddressPart(std::string_view digits) {
  unsigned base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
  } else if (digits.empty()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = base::IsAsciiDigit(c)    ? static_cast<unsigned>(c - '0')
                           : (c >= 'a' && c <= 'f') ? static_cast<unsigned>(c - 'a' + 10)
                                                    : 16u;
    if (digit >= base) {
      return std::nullopt;
    }
    value = value * base + digit;
    if (value > 0xffffffffu) {
      return std::nullopt;
    }
  }
  return value;
}

// Whether resolvers take the name for an address rather than look it up (WHATWG: "ends in a
// number"), be it a valid one or not.
bool EndsInNumber(const std::vector<std::string_view>& labels) {
  const std::string_view last = labels.back();
  if (last.starts_with("0x")) {
    return std::all_of(last.begin() + 2, last.end(),
                       [](char c) { return base::IsAsciiDigit(c) || (c >= 'a' && c <= 'f'); });
  }
  return !last.empty() && std::all_of(last.begin(), last.end(), base::IsAsciiDigit);
}

// One to four parts; the last one fills the bytes that are left ("127.1", "2130706433").
std::optional<IpAddress> ParseAnyV4(const std::vector<std::string_view>& labels) {
  if (labels.size() > 4) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto part = ParseAddressPart(labels[i]);
    const bool last = i + 1 == labels.size();
    const int bits = last ? static_cast<int>(8 * (5 - labels.size())) : 8;
    if (!part || *part >= (std::uint64_t{1} << bits)) {
      return std::nullopt;
    }
    value = value << bits | *part;
  }
  IpAddress ip;
  for (std::size_t i = 0; i < 4; ++i) {
    ip.bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  }
  return ip;
}

bool IsNameLabel(std::string_view label) {
  return !label.empty() && label.size() <= kLabelCharsMax &&
         std::all_of(label.begin(), label.end(), [](char c) {
           return base::IsAsciiDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
         });
}

// What the host is: exactly one of literal and name, or a message.
struct Host {
  std::optional<IpAddress> literal;
  std::string name;
  std::string error;
};

Host ParseHost(std::string_view given) {
  Host host;
  for (const char c : given) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      host.error = "an international host name must be given in its ASCII form (xn--...)";
      return host;
    }
    if (c == '%') {
      host.error = "the URL's host must not contain a percent sign (encoding or IPv6 zone)";
      return host;
    }
    host.name.push_back(base::AsciiLower(c));
  }
  if (host.name.starts_with('[')) {
    const std::string_view inner = std::string_view(host.name).substr(1, host.name.size() - 2);
    host.literal =
        inner.find(':') == std::string_view::npos ? std::nullopt : IpAddress::Parse(inner);
    if (!host.literal) {
      host.error = "the URL's host in brackets is not an IPv6 address";
    }
    return host;
  }
  if (host.name.ends_with('.')) {
    host.name.pop_back();
  }
  const auto labels = Labels(host.name);
  if (EndsInNumber(labels)) {
    host.literal = ParseAnyV4(labels);
    if (!host.literal) {
      host.error = "the URL's host \"" + host.name + "\" is neither a name nor an IPv4 address";
    }
    return host;
  }
  if (host.name.size() > kHostCharsMax || !std::all_of(labels.begin(), labels.end(), IsNameLabel)) {
    host.error = "the URL's host is not a valid host name";
  }
  return host;
}

bool IsOrEndsWith(std::string_view name, std::string_view domain) {
  return name == domain || (name.size() > domain.size() && name.ends_with(domain) &&
                            name[name.size() - domain.size() - 1] == '.');
}

// The empty string, or why this host is not for tenants.
std::string CheckHost(const Host& host, const AddressPolicy& policy) {
  if (host.literal) {
    return policy.Allows(*host.literal)
               ? ""
               : "the URL's host " + host.literal->ToString() + " is not a public address";
  }
  const bool loopback = IsOrEndsWith(host.name, "localhost");
  if (loopback && !policy.Allows(*IpAddress::Parse("127.0.0.1")) &&
      !policy.Allows(*IpAddress::Parse("::1"))) {
    return "the URL's host " + host.name + " is not public";
  }
  const bool internal = IsOrEndsWith(host.name, "local") || IsOrEndsWith(host.name, "internal");
  if (internal && !policy.OpensAny()) {
    return "the URL's host " + host.name + " is not public";
  }
  return "";
}

}  // namespace

TenantUrlResult ParseTenantUrl(std::string_view text, const AddressPolicy& policy) {
  // The bytes first: so many characters have at most four times as many.
  if (text.empty() || text.size() > 4 * domain::kUrlCharsMax ||
      base::CountCharacters(text) > domain::kUrlCharsMax) {
    return Refuse("the URL must have 1 to " + std::to_string(domain::kUrlCharsMax) + " characters");
  }
  UrlParts parts;
  std::string error;
  if (!SplitUrl(text, &parts, &error)) {
    return Refuse(std::move(error));
  }
  if (parts.scheme != "http" && parts.scheme != "https") {
    return Refuse("the URL must start with http:// or https://");
  }
  if (parts.has_userinfo) {
    return Refuse("the URL must not contain a user or password");
  }
  if (parts.has_fragment) {
    return Refuse("the URL must not contain a fragment (#...)");
  }
  Host host = ParseHost(parts.host);
  error = host.error.empty() ? CheckHost(host, policy) : host.error;
  if (!error.empty()) {
    return Refuse(std::move(error));
  }
  TenantUrl url;
  url.scheme = parts.scheme;
  url.host = host.literal ? host.literal->ToString() : host.name;
  url.port = parts.port;
  url.path = parts.rest.substr(0, parts.rest.find('?'));
  url.text = text;
  url.rest_at = text.size() - parts.rest.size();  // there is no fragment behind it
  url.literal = host.literal;
  return {std::move(url), std::nullopt};
}

}  // namespace vedette::net
