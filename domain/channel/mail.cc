#include "domain/channel/mail.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/channel/chat.h"
#include "domain/email/address.h"
#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

using namespace std::string_view_literals;

constexpr std::array kMailStatuses{"unconfirmed"sv, "confirmed"sv, "suspended"sv, "unsubscribed"sv};

}  // namespace

std::string_view MailStatusName(MailStatus status) {
  return NameIn(kMailStatuses, status);
}

std::string MailDigest(std::string_view address) {
  if (!IsMailable(address)) return {};
  return base::Sha256("channel mail " + ParseAddress(address)->Key());
}

namespace {

std::size_t CountOf(const std::vector<MailAddress>& addresses, MailStatus status) {
  return static_cast<std::size_t>(
      std::count_if(addresses.begin(), addresses.end(),
                    [status](const MailAddress& a) { return a.status == status; }));
}

}  // namespace

ChannelStatus StatusOfMail(const std::vector<MailAddress>& addresses) {
  if (CountOf(addresses, MailStatus::kConfirmed) > 0) return ChannelStatus::kActive;
  return CountOf(addresses, MailStatus::kUnconfirmed) > 0 ? ChannelStatus::kUnconfirmed
                                                          : ChannelStatus::kSuspended;
}

std::optional<std::string> ReasonOfMail(const std::vector<MailAddress>& addresses) {
  if (addresses.empty()) return "no address is left";
  std::string text;
  for (const auto& [status, what] : {std::pair(MailStatus::kUnconfirmed, "wait for their link"),
                                     {MailStatus::kSuspended, "are refused by the relay for good"},
                                     {MailStatus::kUnsubscribed, "have unsubscribed"}}) {
    const std::size_t count = CountOf(addresses, status);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  if (text.empty()) return std::nullopt;
  return fmt::format("of {} addresses {}", addresses.size(), text);
}

namespace {

std::string TokenOf(const base::Uuid& address_id, MailLink link, std::string_view encryption_key) {
  const std::string_view use =
      link == MailLink::kConfirm ? "channel_mail_confirm " : "channel_mail_unsubscribe ";
  return base::Base64UrlEncode(
      base::HmacSha256(encryption_key, std::string(use) + address_id.ToString()));
}

}  // namespace

std::string MailLinkPath(const base::Uuid& address_id, MailLink link,
                         std::string_view encryption_key) {
  return fmt::format("/mail-addresses/{}?token={}", address_id.ToString(),
                     TokenOf(address_id, link, encryption_key));
}

std::optional<MailLink> ReadMailLink(const base::Uuid& address_id, std::string_view token,
                                     const std::vector<std::string>& encryption_keys) {
  std::optional<MailLink> found;  // every key is tried, whichever made it
  for (const std::string& key : encryption_keys) {
    for (const MailLink link : {MailLink::kConfirm, MailLink::kUnsubscribe}) {
      if (base::ConstantTimeEqual(TokenOf(address_id, link, key), token)) found = link;
    }
  }
  return found;
}

namespace {

std::string Base64(std::string_view data) {
  std::string text = base::Base64UrlEncode(data);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return text.append((4 - text.size() % 4) % 4, '=');
}

// In lines, as a part of a message.
std::string Base64Lines(std::string_view data) {
  constexpr std::size_t kLineChars = 76;
  const std::string text = Base64(data);
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += kLineChars) {
    lines.append(text, at, kLineChars).append("\r\n");
  }
  return lines;
}

// A header's text: as it is where it is short and plain, else in encoded words (RFC 2047), none of
// which cuts a character apart. No line of a header is longer than 76 characters then.
std::string HeaderText(std::string_view text) {
  constexpr std::size_t kPlainBytesMax = 60;
  constexpr std::size_t kWordBytes = 36;
  if (text.size() <= kPlainBytesMax && IsAsciiText(text) && text.find("=?") == text.npos) {
    return std::string(text);
  }
  std::string words;
  while (!text.empty()) {
    const std::string_view word = base::CutBytes(text, kWordBytes);
    if (!words.empty()) words += "\r\n ";
    words += "=?UTF-8?B?" + Base64(word) + "?=";
    text.remove_prefix(word.size());
  }
  return words;
}

// "Wed, 25 Nov 2026 09:30:00 +0000"
std::string MailDate(base::Timestamp time) {
  constexpr std::array kDays{"Sun"sv, "Mon"sv, "Tue"sv, "Wed"sv, "Thu"sv, "Fri"sv, "Sat"sv};
  constexpr std::array kMonths{"Jan"sv, "Feb"sv, "Mar"sv, "Apr"sv, "May"sv, "Jun"sv,
                               "Jul"sv, "Aug"sv, "Sep"sv, "Oct"sv, "Nov"sv, "Dec"sv};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time - day).count();
  return fmt::format(
      "{}, {} {} {} {:02}:{:02}:{:02} +0000", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// The whole message. `unsubscribe_url`: of one that can be left with one click, or empty.
std::string Message(const MailEnvelope& envelope, std::string_view subject, std::string_view text,
                    std::string_view html, std::string_view unsubscribe_url) {
  const std::string id = envelope.delivery_id.ToString();
  const std::string boundary = "vedette-" + id;
  const auto part = [&boundary](std::string_view type, std::string_view content) {
    return fmt::format(
               "--{}\r\nContent-Type: text/{}; charset=utf-8\r\nContent-Transfer-Encoding: "
               "base64\r\n\r\n",
               boundary, type) +
           Base64Lines(content);
  };
  std::string message =
      fmt::format("Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}@{}>\r\n",
                  MailDate(envelope.date), envelope.from, envelope.to, HeaderText(subject), id,
                  envelope.from.substr(envelope.from.rfind('@') + 1));
  message += "Auto-Submitted: auto-generated\r\n";
  if (!unsubscribe_url.empty()) {
    message += fmt::format(
        "List-Unsubscribe: <{}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
        unsubscribe_url);
  }
  message += fmt::format(
      "MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary=\"{}\"\r\n\r\n",
      boundary);
  return message + part("plain", text) + part("html", html) + "--" + boundary + "--\r\n";
}

std::string HtmlDocument(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{}</title></head>\n"
      "<body>\n<main>\n{}</main>\n</body></html>\n",
      EscapeMarkup(title), body);
}

// A name or a value of others. Its letters may be read from right to left, which ends with it.
std::string HtmlText(std::string_view text) {
  return "<bdi>" + EscapeMarkup(text) + "</bdi>";
}

std::string HtmlLink(std::string_view url, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>", EscapeMarkup(url), EscapeMarkup(text));
}

constexpr std::size_t kEvidenceUnits = 500;
constexpr std::size_t kSourcesMax = 3;
constexpr std::size_t kSourceUnits = 500;

// A change or an error with what it rests on.
struct MailLine {
  ChatLine line;
  std::string evidence;
  std::vector<std::string> sources;  // addresses of the web
};

// Addresses of the web alone, so that a link in a message leads nowhere else.
std::vector<std::string> SourcesOf(const Event& event) {
  std::vector<std::string> sources;
  base::Json json;
  if (!event.sources_json || base::ParseJson(*event.sources_json, &json) || !json.is_array()) {
    return sources;
  }
  for (const base::Json& source : json) {
    if (sources.size() == kSourcesMax || !source.is_string()) break;
    const auto& url = source.get_ref<const std::string&>();
    if (base::HasWebScheme(url) && url.size() <= kSourceUnits && url == ChatText(url, url.size()))
      sources.push_back(url);
  }
  return sources;
}

std::vector<MailLine> LinesOf(const ChannelNews& news) {
  std::vector<MailLine> lines;
  if (!news.include_values) return lines;
  for (const Event& event : news.events) {
    if (lines.size() == kMailChangesMax) break;
    lines.push_back({ChatLineOf(news, lines.size()),
                     ChatText(event.evidence.value_or(""), kEvidenceUnits), SourcesOf(event)});
  }
  return lines;
}

std::string LineText(const MailLine& line) {
  std::string text = line.line.field.empty() ? "" : line.line.field + ": ";
  text += line.line.text + "\n";
  if (!line.evidence.empty()) text += "  Evidence: " + line.evidence + "\n";
  for (const std::string& source : line.sources) text += "  Source: " + source + "\n";
  return text;
}

std::string LineHtml(const MailLine& line) {
  std::string html = "<p>";
  if (!line.line.field.empty()) html += "<b>" + HtmlText(line.line.field) + "</b>: ";
  html += HtmlText(line.line.text);
  if (!line.evidence.empty()) html += "<br>Evidence: " + HtmlText(line.evidence);
  for (const std::string& source : line.sources) {
    html += "<br>Source: " + HtmlLink(source, source);
  }
  return html + "</p>\n";
}

}  // namespace

std::string ConfirmationMail(const MailEnvelope& envelope, std::string_view confirm_url,
                             std::string_view unsubscribe_url) {
  const std::string name = ChatText(envelope.channel_name, kChatTitleUnits);
  const auto asks = [](const std::string& shown) {
    return fmt::format("Somebody wants to send you what the channel \"{}\" tells.", shown);
  };
  const std::string_view ignore =
      "If you did not expect this, do nothing: you will not hear from it.";
  const std::string text =
      fmt::format("{}\n\nTo receive it, open this link:\n{}\n\n{}\nNever to be asked again: {}\n",
                  asks(name), confirm_url, ignore, unsubscribe_url);
  const std::string html = fmt::format("<p>{}</p>\n<p>{}</p>\n<p>{} {}</p>\n", asks(HtmlText(name)),
                                       HtmlLink(confirm_url, "I want to receive it"), ignore,
                                       HtmlLink(unsubscribe_url, "Never ask me again"));
  const std::string subject = "Confirm your address for " + name;
  return Message(envelope, subject, text, HtmlDocument(subject, html), {});
}

std::string NewsMail(const MailEnvelope& envelope, const ChannelNews& news,
                     std::string_view monitors_url, std::string_view unsubscribe_url) {
  const ChatMessage shown = ChatMessageOf(news, monitors_url);
  const std::vector<MailLine> lines = LinesOf(news);
  std::string text = shown.title + "\n\n";
  std::string html = "<h1>" + HtmlText(shown.title) + "</h1>\n";
  for (const MailLine& line : lines) {
    text += LineText(line) + "\n";
    html += LineHtml(line);
  }
  if (news.include_values && news.events.size() > lines.size()) {
    const std::string more = fmt::format("and {} more", news.events.size() - lines.size());
    text += more + "\n\n";
    html += "<p>" + more + "</p>\n";
  }
  if (shown.link) {
    text += *shown.link + "\n\n";
    html += "<p>" + HtmlLink(*shown.link, "Open the row") + "</p>\n";
  }
  const std::string name = ChatText(envelope.channel_name, kChatTitleUnits);
  const auto why = [](const std::string& shown_name) {
    return fmt::format("You receive this from the channel \"{}\".", shown_name);
  };
  text += fmt::format("-- \n{}\nUnsubscribe: {}\n", why(name), unsubscribe_url);
  html += fmt::format("<p><small>{} {}</small></p>\n", why(HtmlText(name)),
                      HtmlLink(unsubscribe_url, "Unsubscribe"));
  return Message(envelope, shown.title, text, HtmlDocument(shown.title, html), unsubscribe_url);
}

// The button posts to the address of the page itself.
std::string MailPage(std::string_view title, std::string_view text, bool has_button) {
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>{}</p>\n", EscapeMarkup(title), EscapeMarkup(text));
  if (has_button) {
    body += fmt::format("<form method=\"post\"><button>{}</button></form>\n", EscapeMarkup(title));
  }
  return HtmlDocument(title, body);
}

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
