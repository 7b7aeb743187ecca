#include "net/url.h"

#include <algorithm>

#include "base/text.h"

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
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f) {
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

}  // namespace vedette::net
