#include "config/values.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/duration.h"
#include "domain/email/address.h"

namespace vedette::config {
namespace {

using Kind = RawValue::Kind;

constexpr auto kFaultPoints = std::to_array<std::string_view>(
    {"after_cut", "after_claim", "after_reserve", "after_probe", "before_record_commit",
     "after_record_commit", "after_send", "before_settle", "after_job_start", "after_job_claim",
     "after_row", "before_job_record_commit", "after_job_record_commit", "before_job_end_commit",
     "after_job_end_commit"});
constexpr auto kSafeties = std::to_array<std::string_view>(
    {"lease_fence", "row_fence", "reservation", "lease_renewal", "job_lease_fence",
     "job_progress_fence", "job_reservation", "job_held", "job_end_lock", "open_later",
     "assertion_once", "token_version", "key_fetch_limit"});

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

// A reader of whole numbers in a range, as any type that holds them.
template <typename T>
ValueReader<T> Whole(std::int64_t min, std::int64_t max, std::string_view unit) {
  return {fmt::format("a whole number{} from {} to {}", unit, min, max),
          [min, max](const RawValue& raw) -> std::optional<T> {
            const auto value = ReadInteger(raw);
            if (!value || *value < min || *value > max) return std::nullopt;
            return static_cast<T>(*value);
          }};
}

// A reader of text that must please `is_allowed`.
template <typename Predicate>
ValueReader<std::string> TextThat(std::string allowed, Predicate is_allowed) {
  return {std::move(allowed), [is_allowed](const RawValue& raw) -> std::optional<std::string> {
            auto text = ReadText(raw);
            if (!text || !is_allowed(*text)) return std::nullopt;
            return text;
          }};
}

template <typename Predicate>
ValueReader<std::vector<std::string>> ListThat(std::string allowed, Predicate is_allowed) {
  return {std::move(allowed),
          [is_allowed](const RawValue& raw) -> std::optional<std::vector<std::string>> {
            auto items = ReadList(raw);
            if (!items || !std::all_of(items->begin(), items->end(), is_allowed)) {
              return std::nullopt;
            }
            return items;
          }};
}

// The bits of an address in canonical form; 0 for anything else.
int AddressBits(const std::string& text) {
  std::array<unsigned char, 16> bytes;
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

bool IsKeyOrEmpty(const std::string& text) {
  return text.empty() || (text.size() == 64 && base::HexDecode(text));
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

ValueReader<int> Int(int min, int max) {
  return Whole<int>(min, max, "");
}

ValueReader<std::int64_t> Int64(std::int64_t min, std::int64_t max) {
  return Whole<std::int64_t>(min, max, "");
}

ValueReader<std::size_t> Bytes(std::size_t min, std::size_t max) {
  return Whole<std::size_t>(static_cast<std::int64_t>(min), static_cast<std::int64_t>(max),
                            " of bytes");
}

ValueReader<std::chrono::milliseconds> Milliseconds(std::chrono::milliseconds min,
                                                    std::chrono::milliseconds max) {
  return Whole<std::chrono::milliseconds>(min.count(), max.count(), " of milliseconds");
}

ValueReader<std::chrono::seconds> Seconds(std::chrono::seconds min, std::chrono::seconds max) {
  return Whole<std::chrono::seconds>(min.count(), max.count(), " of seconds");
}

ValueReader<double> Real(double min, double max) {
  return {fmt::format("a number from {} to {}", min, max),
          [min, max](const RawValue& raw) -> std::optional<double> {
            const auto value = ReadReal(raw);
            // Written so that NaN is refused too.
            if (!value || !(*value >= min && *value <= max)) return std::nullopt;
            return value;
          }};
}

ValueReader<std::optional<double>> OptionalReal(double min, double max) {
  return {fmt::format("a number from {} to {}, or empty", min, max),
          [real = Real(min, max)](const RawValue& raw) -> std::optional<std::optional<double>> {
            if (const auto text = ReadText(raw); text && text->empty()) {
              return std::optional<double>();
            }
            const auto value = real.read(raw);
            if (!value) return std::nullopt;
            return value;
          }};
}

ValueReader<std::int64_t> Credits(std::int64_t max) {
  return {fmt::format("a number of credits from 0 to {}, with at most three decimals", max),
          [max](const RawValue& raw) -> std::optional<std::int64_t> {
            const auto credits = ReadReal(raw);
            if (!credits || !(*credits >= 0 && *credits <= static_cast<double>(max))) {
              return std::nullopt;
            }
            const std::int64_t mc = std::llround(*credits * 1000);
            if (static_cast<double>(mc) / 1000 != *credits) return std::nullopt;
            return mc;
          }};
}

ValueReader<std::chrono::hours> Hours() {
  return {"a duration in whole hours, such as \"36h\", \"90d\" or \"52w\"",
          [](const RawValue& raw) -> std::optional<std::chrono::hours> {
            const auto text = ReadText(raw);
            if (!text) return std::nullopt;
            const auto duration = domain::ParseDuration(*text, false);
            if (!duration || *duration % std::chrono::hours(1) != std::chrono::seconds(0)) {
              return std::nullopt;
            }
            return std::chrono::duration_cast<std::chrono::hours>(*duration);
          }};
}

ValueReader<std::optional<std::chrono::seconds>> OptionalDuration() {
  return {"a duration such as \"5s\", \"10m\" or \"1h\", or empty",
          [](const RawValue& raw) -> std::optional<std::optional<std::chrono::seconds>> {
            const auto text = ReadText(raw);
            if (!text) return std::nullopt;
            if (text->empty()) return std::optional<std::chrono::seconds>();
            const auto duration = domain::ParseDuration(*text, true);
            if (!duration) return std::nullopt;
            return duration;
          }};
}

ValueReader<std::string> Text() {
  return TextThat("text", [](const std::string&) { return true; });
}

ValueReader<std::string> NonEmptyText() {
  return TextThat("text that is not empty", [](const std::string& text) { return !text.empty(); });
}

ValueReader<std::string> Choice(std::vector<std::string> choices) {
  std::string allowed = fmt::format("one of {}", fmt::join(choices, ", "));
  return TextThat(std::move(allowed), [choices = std::move(choices)](const std::string& text) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
  });
}

ValueReader<std::string> ListenAddress() {
  return TextThat("host:port, such as 127.0.0.1:8080 or [::]:8080; port 0 picks a free one",
                  [](const std::string& text) { return IsHostPort(text, 0); });
}

ValueReader<std::string> OptionalListenAddress() {
  return TextThat("host:port, such as 127.0.0.1:9465, or empty",
                  [](const std::string& text) { return text.empty() || IsHostPort(text, 0); });
}

ValueReader<std::string> OptionalUrl() {
  return TextThat("an http or https URL, or empty", [](const std::string& text) {
    return text.empty() || (text.starts_with("http://") && text.size() > 7) ||
           (text.starts_with("https://") && text.size() > 8);
  });
}

ValueReader<std::string> OptionalIssuer() {
  const ValueReader<std::string> url = OptionalUrl();
  return TextThat("an http or https URL without a slash at its end, or empty",
                  [url](const std::string& text) {
                    return url.read(RawValue::Plain(text)) && !text.ends_with('/');
                  });
}

ValueReader<std::string> OptionalKey() {
  ValueReader<std::string> hex = TextThat("64 hexadecimal digits, or empty", IsKeyOrEmpty);
  return {hex.allowed, [hex](const RawValue& raw) -> std::optional<std::string> {
            const auto text = hex.read(raw);
            if (!text) return std::nullopt;
            return base::HexDecode(*text);
          }};
}

ValueReader<std::vector<std::string>> KeyList() {
  const ValueReader<std::string> key = OptionalKey();
  return {"a list of keys of 64 hexadecimal digits each",
          [key](const RawValue& raw) -> std::optional<std::vector<std::string>> {
            auto items = ReadList(raw);
            if (!items) return std::nullopt;
            for (std::string& item : *items) {
              auto decoded = key.read(RawValue::Plain(item));
              if (!decoded || decoded->empty()) return std::nullopt;
              item = std::move(*decoded);
            }
            return items;
          }};
}

ValueReader<std::vector<std::string>> ChoiceList(std::vector<std::string> choices) {
  std::string allowed = fmt::format("a list of some of {}", fmt::join(choices, ", "));
  return ListThat(std::move(allowed), [choices = std::move(choices)](const std::string& item) {
    return std::find(choices.begin(), choices.end(), item) != choices.end();
  });
}

ValueReader<std::vector<std::string>> ProviderIds() {
  return ListThat(
      "a list of ids of providers, such as mine: a lower-case letter, then letters, digits or _",
      [](const std::string& item) { return IsProviderId(item); });
}

ValueReader<std::vector<std::string>> NameList() {
  return ListThat("a list of domains, such as example.org",
                  [](const std::string& item) { return domain::ParseDomain(item).has_value(); });
}

ValueReader<bool> Flag() {
  return {"true or false", [](const RawValue& raw) -> std::optional<bool> {
            if (raw.kind == Kind::kBoolean) return raw.boolean;
            if (raw.kind != Kind::kPlain) return std::nullopt;
            if (raw.text == "true") return true;
            if (raw.text == "false") return false;
            return std::nullopt;
          }};
}

bool IsProviderId(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() >= 2 && text.size() <= 32 && lower(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

ValueReader<std::vector<std::string>> CidrList() {
  return ListThat("a list of addresses or CIDRs, such as 10.0.0.0/8 or ::1", IsCidr);
}

ValueReader<std::vector<std::string>> AddressList() {
  return ListThat("a list of addresses, each with a port or without, such as 9.9.9.9 or 9.9.9.9:53",
                  IsDnsServer);
}

ValueReader<std::vector<TestingConfig::FaultPoint>> FaultPoints() {
  return {fmt::format("a list of POINT:kill:PROBABILITY or POINT:stop:PROBABILITY, with one of {}",
                      fmt::join(kFaultPoints, ", ")),
          [](const RawValue& raw) -> std::optional<std::vector<TestingConfig::FaultPoint>> {
            const auto items = ReadList(raw);
            if (!items) return std::nullopt;
            std::vector<TestingConfig::FaultPoint> points;
            for (const std::string& item : *items) {
              const std::size_t first = item.find(':');
              const std::size_t last = item.rfind(':');
              if (last == item.npos || first == last) return std::nullopt;
              auto& point = points.emplace_back();
              point.point = item.substr(0, first);
              point.action = item.substr(first + 1, last - first - 1);
              const auto probability = ParseNumber<double>(std::string_view(item).substr(last + 1));
              if (!Contains(kFaultPoints, point.point) || !probability ||
                  !(*probability >= 0 && *probability <= 1) ||
                  (point.action != "kill" && point.action != "stop")) {
                return std::nullopt;
              }
              point.probability = *probability;
            }
            return points;
          }};
}

ValueReader<std::vector<std::string>> Safeties() {
  return ChoiceList({kSafeties.begin(), kSafeties.end()});
}

}  // namespace vedette::config
