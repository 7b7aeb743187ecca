#include "html/url_reference.h"

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "net/url.h"

namespace vedette::html {
namespace {

// RFC 3986, appendix B. Everything but the scheme points into the text.
struct UrlPieces {
  std::string scheme;  // lower case; empty where there is none
  bool has_authority = false;
  std::string_view authority;
  std::string_view path;
  std::string_view query;  // with its '?'
};

std::size_t SchemeLength(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    const bool letter = base::IsAsciiLetter(c);
    const bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!letter && !(i > 0 && other)) break;
    ++i;
  }
  return i > 0 && i < text.size() && text[i] == ':' ? i : 0;
}

UrlPieces Split(std::string_view text) {
  UrlPieces out;
  text = text.substr(0, text.find('#'));
  if (const std::size_t length = SchemeLength(text); length > 0) {
    out.scheme = base::AsciiLower(text.substr(0, length));
    text.remove_prefix(length + 1);
  }
  if (text.starts_with("//")) {
    out.has_authority = true;
    text.remove_prefix(2);
    const auto end = text.find_first_of("/?");
    out.authority = text.substr(0, end);
    text.remove_prefix(out.authority.size());
  }
  const auto question = text.find('?');
  out.path = text.substr(0, question);
  out.query = question == std::string_view::npos ? std::string_view() : text.substr(question);
  return out;
}

}  // namespace

std::string RemoveDotSegments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const auto end = path.find('/', 1);
    const std::string_view segment = path.substr(0, end);  // with its '/'
    path.remove_prefix(segment.size());
    const bool last = path.empty();
    if (segment == "/.") {
      if (last) out += '/';
    } else if (segment == "/..") {
      out.erase(out.empty() ? 0 : out.rfind('/'));
      if (last) out += '/';
    } else {
      out += segment;
    }
  }
  return out;
}

namespace {

std::string Resolved(std::string_view base, std::string_view reference) {
  const UrlPieces from = Split(base);
  const UrlPieces to = Split(base::Trim(reference));
  const std::string& scheme = to.scheme.empty() ? from.scheme : to.scheme;
  if (scheme != "http" && scheme != "https") return {};
  if (!to.scheme.empty() && !to.has_authority)
    return {};  // "http:x" means different things to many
  std::string out = scheme + "://";
  if (to.has_authority) {
    out += to.authority;
    out += to.path.empty() ? "/" : RemoveDotSegments(to.path);
    out += to.query;
    return out;
  }
  out += from.authority;
  if (to.path.empty()) {
    out += from.path.empty() ? "/" : std::string(from.path);
    out += to.query.empty() ? from.query : to.query;
    return out;
  }
  std::string path;
  if (!to.path.starts_with('/')) {
    path = from.path.empty() ? "/" : from.path.substr(0, from.path.rfind('/') + 1);
  }
  out += RemoveDotSegments(path + std::string(to.path));
  out += to.query;
  return out;
}

}  // namespace

std::string ResolveReference(std::string_view base, std::string_view reference) {
  std::string url = Resolved(base, reference);
  const std::size_t path = url.find('/', url.find("//") + 2);
  for (auto at = url.find(' ', path); at != std::string::npos; at = url.find(' ', at)) {
    url.replace(at, 1, "%20");
  }
  return url;
}

std::string EncodeComponent(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = base::IsAsciiDigit(c) || base::IsAsciiLetter(c) || c == '-' || c == '.' ||
                       c == '_' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string OriginOfUrl(std::string_view url) {
  const auto host = url.find("://");
  if (host == std::string_view::npos) return "";
  return std::string(url.substr(0, url.find_first_of("/?#", host + 3)));
}

bool SameOrigin(std::string_view a, std::string_view b) {
  const auto origin = [](std::string_view url) {
    const UrlPieces parts = Split(url);
    std::string out = parts.scheme + "://" + base::AsciiLower(parts.authority);
    const std::string_view port = parts.scheme == "https" ? ":443" : ":80";
    if (out.ends_with(port)) out.resize(out.size() - port.size());
    if (out.ends_with(':')) out.pop_back();
    return out;
  };
  return origin(a) == origin(b);
}

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

namespace {

std::string_view Value(const base::Json& columns, std::string_view name) {
  if (!columns.is_object()) return {};
  for (const auto& [key, value] : columns.items()) {
    if (!value.is_string() || base::AsciiLower(key) != name) continue;
    const std::string_view text = base::Trim(value.get_ref<const std::string&>());
    if (!text.empty()) return text;
  }
  return {};
}

// The column that names the row's page, as it is; empty where none does.
std::string_view PageColumn(const base::Json& subject, const base::Json& context) {
  for (const std::string_view name : {"url", "website", "domain"}) {
    for (const base::Json* columns : {&subject, &context}) {
      const std::string_view value = Value(*columns, name);
      if (!value.empty() && value.front() != '#') return value;
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> PageAddress(const base::Json& subject, const base::Json& context) {
  std::string_view value = PageColumn(subject, context);
  value = value.substr(0, value.find('#'));
  if (value.empty()) return std::nullopt;
  if (value.starts_with("//")) return "https:" + std::string(value);
  const bool scheme = value.find("://") < value.find_first_of("/?");
  return scheme ? std::string(value) : "https://" + std::string(value);
}

std::string PageFragment(const base::Json& subject, const base::Json& context) {
  const std::string_view value = PageColumn(subject, context);
  return std::string(value.substr(std::min(value.find('#'), value.size())));
}

}  // namespace vedette::html
