#include "net/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace vedette::net {
namespace {

std::optional<int> Digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && value >= 0 && text[0] != '-' ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<base::Timestamp> ParseHttpDate(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text = base::Trim(text, base::kBlankSpace);
  if (text.size() != 29 || !text.ends_with(" GMT") || text[3] != ',') return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = Digits(text.substr(5, 2));
  const auto year = Digits(text.substr(12, 4));
  const auto hour = Digits(text.substr(17, 2));
  const auto minute = Digits(text.substr(20, 2));
  const auto second = Digits(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(*year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return base::Timestamp(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response,
                                                    base::Timestamp now) {
  const auto header = response.Header("retry-after");
  if (!header) return std::nullopt;
  const std::string_view text = base::Trim(*header, base::kBlankSpace);
  std::chrono::milliseconds wait{};
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (number) {
    const auto seconds = Digits(text);  // nothing where it overflows: as long as can be
    wait = seconds ? std::chrono::seconds(*seconds) : std::chrono::milliseconds(kRetryAfterMax);
  } else if (const auto until = ParseHttpDate(text)) {
    const auto date = response.Header("date");
    const auto sent = date ? ParseHttpDate(*date) : std::nullopt;
    wait = std::chrono::ceil<std::chrono::milliseconds>(*until - sent.value_or(now));
  } else {
    return std::nullopt;
  }
  return std::clamp<std::chrono::milliseconds>(wait, std::chrono::milliseconds(0), kRetryAfterMax);
}

}  // namespace vedette::net
