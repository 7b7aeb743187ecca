#include "config/keys.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "config/lookup_config.h"
#include "domain/auth/cell.h"
#include "domain/email/address.h"
#include "domain/monitor/timetable.h"
#include "domain/text/limits.h"

namespace vedette::config {
namespace {

using Kind = RawValue::Kind;

constexpr auto kFaultPoints = std::to_array<std::string_view>(
    {"after_cut", "after_claim", "after_reserve", "after_probe", "before_record_commit",
     "after_record_commit", "after_send", "before_settle", "after_job_start", "after_job_claim",
     "after_row", "before_job_record_commit", "after_job_record_commit", "before_job_end_commit",
     "after_job_end_commit", "after_slot_read", "before_slot_commit", "after_slot_commit"});

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ReadInteger(const RawValue& raw) {
  if (raw.kind == Kind::kInteger) return raw.integer;
  if (raw.kind == Kind::kPlain) return ParseNumber<std::int64_t>(raw.text);
  return std::nullopt;
}

std::optional<double> ReadReal(const RawValue& raw) {
  if (raw.kind == Kind::kReal) return raw.real;
  if (raw.kind == Kind::kInteger) return static_cast<double>(raw.integer);
  if (raw.kind == Kind::kPlain) return ParseNumber<double>(raw.text);
  return std::nullopt;
}

std::optional<std::string> ReadText(const RawValue& raw) {
  if (raw.kind != Kind::kText && raw.kind != Kind::kPlain) return std::nullopt;
  return raw.text;
}

std::optional<std::vector<std::string>> ReadList(const RawValue& raw) {
  if (raw.kind == Kind::kList) return raw.list;
  if (raw.kind != Kind::kPlain) return std::nullopt;
  std::vector<std::string> items;
  std::string_view rest = raw.text;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(",\n");
    const std::string_view item = base::Trim(rest.substr(0, end), base::kLineSpace);
    if (!item.empty()) items.emplace_back(item);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return items;
}

// The bits of an address in canonical form; 0 for anything else.
int AddressBits(const std::string& text) {
  std::array<unsigned char, 16> bytes;
  if (text.find('\0') != std::string::npos) return 0;
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return 32;
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return 128;
  return 0;
}

bool IsCidr(const std::string& text) {
  const std::size_t slash = text.find('/');
  const int bits = AddressBits(text.substr(0, slash));
  if (bits == 0 || slash == std::string::npos) return bits != 0;
  const auto prefix = ParseNumber<int>(std::string_view(text).substr(slash + 1));
  return prefix && *prefix >= 0 && *prefix <= bits;
}

// "host:port", "[v6]:port"; with `port` 0 allowed or not.
bool IsHostPort(std::string_view text, int port_min) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const auto port = ParseNumber<int>(text.substr(colon + 1));
  const bool bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
  const bool plain = host.find_first_of("[]: \t/") == std::string_view::npos;
  return port && *port >= port_min && *port <= 65535 && (bracketed || plain);
}

bool IsDnsServer(const std::string& text) {
  return AddressBits(text) != 0 || IsHostPort(text, 1);
}

bool IsUrlOrEmpty(std::string_view text) {
  return text.empty() || (text.starts_with("http://") && text.size() > 7) ||
         (text.starts_with("https://") && text.size() > 8);
}

// What paths are written behind: a host, with a port or a path, and nothing that would swallow
// them or that no address has.
bool IsIssuerOrEmpty(std::string_view text) {
  if (text.empty()) return true;
  if (!IsUrlOrEmpty(text) || text.ends_with('/')) return false;
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return base::IsAsciiControl(c) ||
           std::string_view(" ?#\\\"<>|").find(c) != std::string_view::npos;
  });
  std::string host(text.substr(text.find("://") + 3));
  host = host.substr(0, host.find('/'));
  const bool has_port = host.rfind(':') != std::string::npos && !host.ends_with(']');
  if (!has_port) host += ":443";
  return plain && host.find('@') == std::string::npos && IsHostPort(host, 1);
}

bool IsDatabaseUrl(std::string_view text) {
  return text.find("://") == std::string_view::npos || text.starts_with("postgresql://") ||
         text.starts_with("postgres://") || text.find('=') < text.find("://");
}

// Whether the text is one of "these, those".
bool IsAmong(std::string_view choices, std::string_view text) {
  constexpr std::string_view kBetween = ", ";
  while (true) {
    const std::size_t end = choices.find(kBetween);
    if (choices.substr(0, end) == text) return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + kBetween.size());
  }
}

// Whether the text is one that keys of this kind take; every text is where they take any.
bool IsTextOf(const Values& values, std::string_view text) {
  switch (values.kind) {
    case Values::Kind::kNonEmptyText:
    case Values::Kind::kTexts:
      return !text.empty();
    case Values::Kind::kChoice:
    case Values::Kind::kChoiceList:
      return IsAmong(values.choices, text);
    case Values::Kind::kListenAddress:
      return IsHostPort(text, 0);
    case Values::Kind::kOptionalListenAddress:
      return text.empty() || IsHostPort(text, 0);
    case Values::Kind::kDatabaseUrl:
      return IsDatabaseUrl(text);
    case Values::Kind::kOptionalUrl:
      return IsUrlOrEmpty(text);
    case Values::Kind::kOptionalIssuer:
      return IsIssuerOrEmpty(text);
    case Values::Kind::kOptionalAddress:
      return text.empty() || AddressBits(std::string(text)) != 0;
    case Values::Kind::kOptionalCell:
      return text.empty() || domain::IsCellId(text);
    case Values::Kind::kProviderIds:
      return IsProviderId(text);
    case Values::Kind::kDomains:
      return domain::ParseDomain(text).has_value();
    case Values::Kind::kCidrs:
      return IsCidr(std::string(text));
    case Values::Kind::kAddresses:
      return IsDnsServer(std::string(text));
    default:
      return true;
  }
}

// A key of 64 hexadecimal digits as bytes; empty text is an empty key.
std::optional<std::string> KeyOf(const std::string& text) {
  if (!text.empty() && text.size() != 64) return std::nullopt;
  return base::HexDecode(text);
}

template <typename T>
bool Put(const Field& field, std::optional<T> value) {
  if (!value) return false;
  *std::get<T*>(field) = std::move(*value);
  return true;
}

bool SetWhole(const Values& values, const RawValue& raw, const Field& field) {
  const auto value = ReadInteger(raw);
  if (!value || *value < values.min || *value > values.max) return false;
  return std::visit(
      [&](auto* at) {
        using T = std::remove_pointer_t<decltype(at)>;
        if constexpr (std::is_arithmetic_v<T> || std::is_constructible_v<T, std::int64_t>) {
          *at = static_cast<T>(*value);
        }
        return true;
      },
      field);
}

bool SetReal(const Values& values, const RawValue& raw, const Field& field) {
  const bool is_optional = std::holds_alternative<std::optional<double>*>(field);
  const auto text = ReadText(raw);
  if (is_optional && text && text->empty()) {
    std::get<std::optional<double>*>(field)->reset();
    return true;
  }
  const auto value = ReadReal(raw);
  // Written so that NaN is refused too.
  const bool is_allowed = value && *value >= static_cast<double>(values.min) &&
                          *value <= static_cast<double>(values.max);
  if (!is_allowed) return false;
  if (is_optional) {
    *std::get<std::optional<double>*>(field) = *value;
  } else {
    *std::get<double*>(field) = *value;
  }
  return true;
}

std::optional<std::int64_t> ReadCredits(const Values& values, const RawValue& raw) {
  const auto credits = ReadReal(raw);
  if (!credits || !(*credits >= 0 && *credits <= static_cast<double>(values.max))) {
    return std::nullopt;
  }
  const std::int64_t mc = std::llround(*credits * 1000);
  if (static_cast<double>(mc) / 1000 != *credits) return std::nullopt;
  return mc;
}

std::optional<std::chrono::hours> ReadHours(const RawValue& raw) {
  const auto text = ReadText(raw);
  if (!text) return std::nullopt;
  const auto duration = domain::ParseDuration(*text, false);
  if (!duration || *duration % std::chrono::hours(1) != std::chrono::seconds(0)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::hours>(*duration);
}

bool SetDuration(const RawValue& raw, std::optional<std::chrono::seconds>* at) {
  const auto text = ReadText(raw);
  if (!text) return false;
  const auto duration = domain::ParseDuration(*text, true);
  if (!text->empty() && (!duration || *duration > domain::kFrequencyMax)) return false;
  *at = text->empty() ? std::nullopt : duration;
  return true;
}

std::optional<bool> ReadFlag(const RawValue& raw) {
  if (raw.kind == Kind::kBoolean) return raw.boolean;
  if (raw.kind != Kind::kPlain) return std::nullopt;
  if (raw.text == "true") return true;
  if (raw.text == "false") return false;
  return std::nullopt;
}

std::optional<ChargeRule> ReadCharge(const Values& values, const RawValue& raw) {
  const auto text = ReadText(raw);
  if (!text || !IsAmong(values.choices, *text)) return std::nullopt;
  if (*text == "always") return ChargeRule::kAlways;
  return *text == "found" ? ChargeRule::kFound : ChargeRule::kOk;
}

std::optional<std::string> ReadAllowedText(const Values& values, const RawValue& raw) {
  auto text = ReadText(raw);
  if (!text || !IsTextOf(values, *text)) return std::nullopt;
  return values.kind == Values::Kind::kOptionalKey ? KeyOf(*text) : text;
}

std::optional<std::vector<std::string>> ReadAllowedList(const Values& values, const RawValue& raw) {
  auto items = ReadList(raw);
  if (!items) return std::nullopt;
  for (std::string& item : *items) {
    if (!IsTextOf(values, item)) return std::nullopt;
    if (values.kind != Values::Kind::kKeyList) continue;
    auto key = KeyOf(item);
    if (!key || key->empty()) return std::nullopt;
    item = std::move(*key);
  }
  return items;
}

// "POINT:ACTION:PROBABILITY".
std::optional<TestingConfig::FaultPoint> FaultPointOf(const std::string& item) {
  const std::size_t first = item.find(':');
  const std::size_t last = item.rfind(':');
  if (last == item.npos || first == last) return std::nullopt;
  TestingConfig::FaultPoint point{item.substr(0, first), item.substr(first + 1, last - first - 1),
                                  0};
  const auto probability = ParseNumber<double>(std::string_view(item).substr(last + 1));
  if (!Contains(kFaultPoints, point.point) || !probability ||
      !(*probability >= 0 && *probability <= 1) ||
      (point.action != "kill" && point.action != "stop")) {
    return std::nullopt;
  }
  point.probability = *probability;
  return point;
}

std::optional<std::vector<TestingConfig::FaultPoint>> ReadFaultPoints(const RawValue& raw) {
  const auto items = ReadList(raw);
  if (!items) return std::nullopt;
  std::vector<TestingConfig::FaultPoint> points;
  for (const std::string& item : *items) {
    auto point = FaultPointOf(item);
    if (!point) return std::nullopt;
    points.push_back(std::move(*point));
  }
  return points;
}

// What whole numbers of this field count.
std::string_view UnitOf(const Field& field) {
  if (std::holds_alternative<std::size_t*>(field)) return " of bytes";
  if (std::holds_alternative<std::chrono::milliseconds*>(field)) return " of milliseconds";
  return "";
}

}  // namespace

RawValue RawValue::Plain(std::string text) {
  RawValue raw;
  raw.kind = Kind::kPlain;
  raw.text = std::move(text);
  return raw;
}

std::string RawValue::Show() const {
  switch (kind) {
    case Kind::kPlain:
    case Kind::kText:
      return "\"" + text + "\"";
    case Kind::kInteger:
      return std::to_string(integer);
    case Kind::kReal:
      return fmt::format("{}", real);
    case Kind::kBoolean:
      return boolean ? "true" : "false";
    case Kind::kList:
      return fmt::format("[\"{}\"]", fmt::join(list, "\", \""));
    case Kind::kOther:
      break;
  }
  return "(of another type)";
}

bool Set(const Values& values, const RawValue& raw, const Field& field) {
  switch (values.kind) {
    case Values::Kind::kWhole:
      return SetWhole(values, raw, field);
    case Values::Kind::kReal:
      return SetReal(values, raw, field);
    case Values::Kind::kCredits:
      return Put(field, ReadCredits(values, raw));
    case Values::Kind::kHours:
      return Put(field, ReadHours(raw));
    case Values::Kind::kDuration:
      return SetDuration(raw, std::get<std::optional<std::chrono::seconds>*>(field));
    case Values::Kind::kFlag:
      return Put(field, ReadFlag(raw));
    case Values::Kind::kCharge:
      return Put(field, ReadCharge(values, raw));
    case Values::Kind::kFaultPoints:
      return Put(field, ReadFaultPoints(raw));
    default:
      break;
  }
  if (std::holds_alternative<std::string*>(field)) return Put(field, ReadAllowedText(values, raw));
  return Put(field, ReadAllowedList(values, raw));
}

std::string Allowed(const Values& values, const Field& field) {
  switch (values.kind) {
    case Values::Kind::kWhole:
      return fmt::format("a whole number{} from {} to {}", UnitOf(field), values.min, values.max);
    case Values::Kind::kReal:
      return fmt::format("a number from {} to {}{}", values.min, values.max,
                         std::holds_alternative<double*>(field) ? "" : ", or empty");
    case Values::Kind::kCredits:
      return fmt::format("a number of credits from 0 to {}, with at most three decimals",
                         values.max);
    case Values::Kind::kHours:
      return "a duration in whole hours, such as \"36h\", \"90d\" or \"52w\"";
    case Values::Kind::kDuration:
      return "a duration such as \"5s\", \"10m\" or \"1h\", up to \"30d\", or empty";
    case Values::Kind::kFlag:
      return "true or false";
    case Values::Kind::kText:
      return "text";
    case Values::Kind::kNonEmptyText:
      return "text that is not empty";
    case Values::Kind::kChoice:
    case Values::Kind::kCharge:
      return fmt::format("one of {}", values.choices);
    case Values::Kind::kListenAddress:
      return "host:port, such as 127.0.0.1:8080 or [::]:8080; port 0 picks a free one";
    case Values::Kind::kOptionalListenAddress:
      return "host:port, such as 127.0.0.1:9465, or empty";
    case Values::Kind::kDatabaseUrl:
      return "a URL of PostgreSQL, such as postgresql://user@host/vedette";
    case Values::Kind::kOptionalUrl:
      return "an http or https URL, or empty";
    case Values::Kind::kOptionalIssuer:
      return "an http or https URL without a slash at its end, a user, a query or a fragment, or "
             "empty";
    case Values::Kind::kOptionalAddress:
      return "an address, such as 203.0.113.7, or empty";
    case Values::Kind::kOptionalCell:
      return fmt::format("1 to {} lower-case letters and digits, or empty", domain::kCellCharsMax);
    case Values::Kind::kOptionalKey:
      return "64 hexadecimal digits, or empty";
    case Values::Kind::kKeyList:
      return "a list of keys of 64 hexadecimal digits each";
    case Values::Kind::kTexts:
      return "a list of texts, none of them empty";
    case Values::Kind::kChoiceList:
      return fmt::format("a list of some of {}", values.choices);
    case Values::Kind::kProviderIds:
      return "a list of ids of providers, such as mine: a lower-case letter, then letters, digits "
             "or _";
    case Values::Kind::kDomains:
      return "a list of domains, such as example.org";
    case Values::Kind::kCidrs:
      return "a list of addresses or CIDRs, such as 10.0.0.0/8 or ::1";
    case Values::Kind::kAddresses:
      return "a list of addresses, each with a port or without, such as 9.9.9.9 or 9.9.9.9:53";
    case Values::Kind::kFaultPoints:
      return fmt::format(
          "a list of POINT:kill:PROBABILITY or POINT:stop:PROBABILITY, with one of {}",
          fmt::join(kFaultPoints, ", "));
  }
  return "";
}

std::optional<SocksProxy> SocksProxy::Parse(std::string_view text) {
  constexpr std::string_view kScheme = "socks5://";
  if (!text.starts_with(kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  if (!IsHostPort(text, 1)) return std::nullopt;
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const bool is_v6 = host.front() == '[';
  if (is_v6) host = host.substr(1, host.size() - 2);
  SocksProxy proxy{std::string(host), *ParseNumber<int>(text.substr(colon + 1))};
  return AddressBits(proxy.address) == (is_v6 ? 128 : 32) ? std::optional(proxy) : std::nullopt;
}

bool IsProviderId(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() >= 2 && text.size() <= 32 && lower(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace vedette::config
