#include "worker/probes/http_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "worker/probes/text.h"

namespace vedette::worker {
namespace {

std::optional<int> Digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && value >= 0 && text[0] != '-' ? std::optional(value) : std::nullopt;
}

std::string Capitalised(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

}  // namespace

std::optional<base::Timestamp> ParseHttpDate(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text = TrimAscii(text);
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

std::optional<std::chrono::milliseconds> RetryAfter(const net::HttpResponse& response,
                                                    base::Timestamp now) {
  const auto header = response.Header("retry-after");
  if (!header) return std::nullopt;
  const std::string_view text = TrimAscii(*header);
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

ProbeFailure TransportFailure(const net::HttpResponse& response, std::string_view whom) {
  using Class = net::HttpErrorClass;
  const Class error = response.error_class;
  const bool retryable = error == Class::kDns || error == Class::kConnect ||
                         error == Class::kTimeout || error == Class::kProtocol ||
                         error == Class::kShutdown;
  std::string reason = RepairUtf8(response.error);
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  return {std::string(net::HttpErrorClassName(error)),
          fmt::format("{} could not be fetched: {}.", Capitalised(whom), reason),
          retryable,
          {}};
}

ProbeFailure StatusFailure(const net::HttpResponse& response, std::string_view whom,
                           base::Timestamp now) {
  const int status = response.status;
  const bool retryable =
      status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
  ProbeFailure out{"http_status",
                   fmt::format("{} answered with the status {}.", Capitalised(whom), status),
                   retryable,
                   {}};
  if (retryable) out.retry_after = RetryAfter(response, now);
  return out;
}

}  // namespace vedette::worker
