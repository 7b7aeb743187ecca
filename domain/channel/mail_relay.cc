#include "domain/channel/mail_relay.h"

#include <algorithm>
#include <charconv>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::domain {
namespace {

using Security = MailRelay::Security;

constexpr int kPortMax = 65535;

// With its escapes decoded; nothing where one is bad, or where it holds what no user name does.
std::optional<std::string> ReadUser(std::string_view text) {
  std::string user;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      user.push_back(text[i]);
      continue;
    }
    const auto byte = base::HexDecode(text.substr(i + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    user += *byte;
    i += 2;
  }
  const bool plain = std::none_of(user.begin(), user.end(), [](char c) {
    return c == ':' || c == ' ' || base::IsAsciiControl(c);
  });
  return plain && !user.empty() ? std::optional(user) : std::nullopt;
}

bool IsHostChar(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '.' || c == '-';
}

// Takes "host", "host:port" or "[address]:port" apart.
bool ReadHost(std::string_view text, MailRelay* relay) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    relay->host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    const bool is_v6 = !relay->host.empty() && relay->host.find_first_not_of(
                                                   "0123456789abcdefABCDEF:.") == std::string::npos;
    if (!is_v6) return false;
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    relay->host = text.substr(0, end);
    port = text.substr(end);
    if (relay->host.empty() || !std::all_of(relay->host.begin(), relay->host.end(), IsHostChar)) {
      return false;
    }
  }
  if (port.empty()) return true;
  const char* const last = port.data() + port.size();
  const auto [read, error] = std::from_chars(port.data() + 1, last, relay->port);
  return port.front() == ':' && error == std::errc() && read == last && relay->port >= 1 &&
         relay->port <= kPortMax;
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

std::optional<MailRelay> ParseMailRelay(std::string_view url) {
  constexpr std::string_view kTls = "smtps://";
  constexpr std::string_view kPlain = "smtp://";
  MailRelay relay;
  const bool tls = url.starts_with(kTls);
  if (!tls && !url.starts_with(kPlain)) return std::nullopt;
  relay.port = tls ? 465 : 587;
  url.remove_prefix(tls ? kTls.size() : kPlain.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    auto user = ReadUser(url.substr(0, at));
    if (!user) return std::nullopt;
    relay.user = std::move(*user);
    url.remove_prefix(at + 1);
  }
  if (!ReadHost(url, &relay)) return std::nullopt;
  relay.security = tls                      ? Security::kTls
                   : IsLoopback(relay.host) ? Security::kNone
                                            : Security::kStartTls;
  return relay;
}

bool IsMailable(std::string_view address) {
  constexpr std::string_view kMarks = "!#$%&'*+-/=?^_`{|}~.";
  const auto parsed = ParseAddress(address);
  if (!parsed || !IsAsciiText(address)) return false;
  const std::string& local = parsed->local;
  const bool plain = std::all_of(local.begin(), local.end(), [&](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || kMarks.find(c) != kMarks.npos;
  });
  return plain && !local.starts_with('.') && !local.ends_with('.') &&
         local.find("..") == std::string::npos &&
         parsed->Text() == parsed->local + "@" + parsed->domain;
}

}  // namespace vedette::domain
